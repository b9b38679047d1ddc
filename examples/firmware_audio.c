/* firmware_audio.c -- from a microphone to a network's outputs on a microcontroller. The DMA fills one half of a buffer of int16
 * samples while the main loop works on the other: window, FFT, logarithms of mel bands, one step of the network. Nothing is
 * allocated.
 *
 *   rnnpack compile model.onnx --target cortex-m4 -o net.rnnp --emit-c net [--incbin]     a model of one input
 *
 * On a board audio_dma_complete is called by the DMA's interrupts (half transfer: 0, transfer complete: 1). The emulator has no
 * microphone: its main copies a clip into the halves. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "net.h"

#define RATE 16000.0f
#define HOP 256u    /* samples of a half, 16 ms */
#define WINDOW 512u /* of the FFT: the half before, and this one */
#define BANDS NET_INPUT0_ELEMS
#define PI 3.14159265358979f

static int16_t dma[2][HOP];
static volatile int32_t ready = -1; /* the half that is full; -1: none. Written by the interrupt, taken by the main loop */
static volatile uint32_t overruns;  /* halves that were full before the one before them was taken */

static float samples[WINDOW], window[WINDOW], twiddle_re[WINDOW / 2], twiddle_im[WINDOW / 2];
static float re[WINDOW], im[WINDOW], edge[BANDS + 2], bands[BANDS], y[NET_OUTPUT0_ELEMS];
static uint8_t memory[NET_SESSION_BYTES] __attribute__((aligned(NET_ALIGN)));
static rnnp_model model;
static rnnp_session *session;

/* From the DMA's interrupt: it only says which half is full. */
void audio_dma_complete(int32_t half) {
  if (ready >= 0) ++overruns;
  ready = half;
}

static float mel_of(float hertz) {
  return 1127.0f * logf(1.0f + hertz / 700.0f);
}
static float hertz_of(float mel) {
  return 700.0f * (expf(mel / 1127.0f) - 1.0f);
}

/* Tables, and the session. */
rnnp_status audio_start(void) {
  rnnp_session_options options;
  rnnp_status status;
  uint32_t i;
  for (i = 0; i < WINDOW; ++i) window[i] = (0.5f - 0.5f * cosf(2.0f * PI * (float)i / (float)WINDOW)) / 32768.0f;
  for (i = 0; i < WINDOW / 2; ++i) {
    twiddle_re[i] = cosf(2.0f * PI * (float)i / (float)WINDOW);
    twiddle_im[i] = -sinf(2.0f * PI * (float)i / (float)WINDOW);
  }
  for (i = 0; i < BANDS + 2; ++i)
    edge[i] = hertz_of(mel_of(60.0f) + (mel_of(RATE / 2) - mel_of(60.0f)) * (float)i / (float)(BANDS + 1)) * (float)WINDOW / RATE;
  net_options(&options);
  status = rnnp_model_open_with(&net_registry, &model);
  if (status != RNNP_OK) return status;
  return rnnp_session_init_with(&net_registry, &session, &model, &options, memory, sizeof memory);
}

/* re + i im becomes its transform, radix 2, in place. */
static void fft(void) {
  uint32_t i, j, half, step, k;
  for (i = 0, j = 0; i < WINDOW; ++i) {
    uint32_t bit = WINDOW / 2;
    if (i < j) {
      const float a = re[i], b = im[i];
      re[i] = re[j], im[i] = im[j];
      re[j] = a, im[j] = b;
    }
    for (; j & bit; bit >>= 1) j ^= bit;
    j |= bit;
  }
  for (half = 1, step = WINDOW / 2; half < WINDOW; half *= 2, step /= 2) {
    for (i = 0; i < WINDOW; i += 2 * half) {
      for (k = 0; k < half; ++k) {
        const uint32_t p = i + k, q = p + half;
        const float w = twiddle_re[k * step], v = twiddle_im[k * step];
        const float a = re[q] * w - im[q] * v, b = re[q] * v + im[q] * w;
        re[q] = re[p] - a, im[q] = im[p] - b;
        re[p] += a, im[p] += b;
      }
    }
  }
}

/* Triangles between neighbouring edges, of the power. */
static void mel_bands(void) {
  uint32_t band, k;
  for (band = 0; band < BANDS; ++band) {
    const float low = edge[band], top = edge[band + 1], high = edge[band + 2];
    float sum = 0.0f;
    for (k = (uint32_t)low + 1; (float)k < high && k <= WINDOW / 2; ++k) {
      const float weight = (float)k < top ? ((float)k - low) / (top - low) : (high - (float)k) / (high - top);
      sum += weight * (re[k] * re[k] + im[k] * im[k]);
    }
    bands[band] = logf(sum + 1e-3f);
  }
}

/* Works on a full half, if there is one. Returns 1 and leaves the outputs in y; 0: nothing was full; a status below 0. */
int audio_poll(void) {
  const int32_t half = ready;
  rnnp_status status;
  uint32_t i;
  if (half < 0) return 0;
  for (i = 0; i < HOP; ++i) samples[i] = samples[i + HOP];
  for (i = 0; i < HOP; ++i) samples[i + HOP] = (float)dma[half][i];
  ready = -1; /* copied: the DMA may fill it again */
  for (i = 0; i < WINDOW; ++i) re[i] = samples[i] * window[i], im[i] = 0.0f;
  fft();
  mel_bands();
  status = rnnp_step(session, bands, y);
  return status == RNNP_OK ? 1 : (int)status;
}

#ifdef AUDIO_CLIP /* the emulator's main: clip_samples of clip.c stand for the microphone */
extern const int16_t clip_samples[];
extern const uint32_t clip_halves;

int main(void) {
  uint32_t n, i;
  int done = audio_start() == RNNP_OK ? 1 : -1;
  for (n = 0; n < clip_halves && done == 1; ++n) {
    for (i = 0; i < HOP; ++i) dma[n % 2][i] = clip_samples[n * HOP + i];
    audio_dma_complete((int32_t)(n % 2));
    done = audio_poll();
    for (i = 0; i < NET_OUTPUT0_ELEMS; ++i) printf("%ld%c", (long)(y[i] * 1e6f), i + 1 < NET_OUTPUT0_ELEMS ? ' ' : '\n');
  }
  printf("overruns %lu\n", (unsigned long)overruns);
  return done == 1 && audio_poll() == 0 ? 0 : 1;
}
#endif
