# SPDX-License-Identifier: Apache-2.0
"""Speech from espeak-ng: which voices exist, which are kept for testing, what they say.

Training and held-out voices never share a variant, and the held-out languages and accents are never trained on.
One formant synthesiser is far from human variety, so languages, variants, pitch, rate and text all vary widely.
"""
import subprocess

import numpy as np
from scipy import signal

RATE = 16000

ACCENTS = ["en-us", "en-gb", "en-029", "en-gb-x-rp", "en-gb-x-gbclan", "en-gb-x-gbcwmd", "en-gb-scotland"]
HELD_OUT_ACCENTS = ["en-us-nyc"]
LANGUAGES = ("af ca cs cy da de es es-419 et eu fr-fr fr-be ga hr hu id is it la lt lv ms nb nl pl pt ro sk sl sq sw "
             "vi haw ht mi").split()
HELD_OUT_LANGUAGES = "fi pt-br sv tr eo".split()

VARIANTS = ("m1 m2 m3 m4 m6 m7 m8 f1 f2 f3 f5 croak klatt klatt2 klatt3 klatt5 adam Alex Alicia Andrea Andy Antonio "
            "aunty belinda benjamin boris caleb david Denis Diogo ed edward Gene gustave Henrique iven iven2 iven3 "
            "Jacky john kaukovalta Lee Marco Mario Mike miguel Mr norbert anika quincy rob robert sandro shelby steph "
            "steph3 travis victor zac").split()
BREATHY_VARIANTS = "whisper whisperf".split()
HELD_OUT_VARIANTS = "m5 f4 klatt4 Annie linda steph2 Michael grandpa grandma pablo Hugo max paul edward2".split()

WORDS = ("time people water house because through morning evening machine window problem number question system "
         "should would could before after never always picture music country father mother sister another between "
         "school thing hand place week company group city story month book eye job business night study blood area "
         "money issue side kind four head far black long both little hospital white children believe happy early "
         "perhaps measure vision shush jazz church thirty fifteen zero seven eight twenty computer please thank you "
         "where what when who how this that the a of and to in is it for with as at by from they we say her she or "
         "an will my one all there their shift sound voice quick brown fox jumps over lazy dog fish sheep").split()
ONSETS = "b d f g h k l m n p r s t v z st tr pl kr sp fl gr sk".split()
VOWELS = "a e i o u ai au ei oi ia".split()
CODAS = ["", "", "", "n", "s", "l", "r", "t", "m", "k"]


def pseudo_word(rng):
    """A made-up word of Latin letters; any Latin-script voice reads it with its own sounds."""
    parts = [rng.choice(ONSETS) + rng.choice(VOWELS) + rng.choice(CODAS) for _ in range(rng.integers(1, 4))]
    return "".join(parts)


def sentence(rng, language):
    count = rng.integers(1, 9)
    if language.startswith("en") and rng.random() < 0.8:
        return " ".join(rng.choice(WORDS, count))
    return " ".join(pseudo_word(rng) for _ in range(count))


def pick_voice(rng, held_out, english_only=False):
    """A (language, variant) pair; a held-out pick always has a held-out variant."""
    accents = ACCENTS + HELD_OUT_ACCENTS * 2 if held_out else ACCENTS
    languages = HELD_OUT_LANGUAGES if held_out else LANGUAGES
    language = rng.choice(accents if english_only or rng.random() < 0.4 else languages)
    if held_out:
        return str(language), str(rng.choice(HELD_OUT_VARIANTS))
    breathy = rng.random() < 0.06 and not english_only
    return str(language), str(rng.choice(BREATHY_VARIANTS if breathy else VARIANTS))


def speak(rng, text, language, variant, words_per_minute=(95, 290), shift=(0.85, 1.2)):
    """Says `text`; returns float samples at 16 kHz with a peak of 1. A random resampling moves pitch and formants."""
    command = ["espeak-ng", "-v", f"{language}+{variant}", "-s", str(rng.integers(*words_per_minute)),
               "-p", str(rng.integers(10, 90)), "-a", "100", "--stdout", text]
    wav = subprocess.run(command, check=True, capture_output=True).stdout
    rate = int.from_bytes(wav[24:28], "little")
    samples = np.frombuffer(wav[44:44 + (len(wav) - 44) // 2 * 2], "<i2").astype(np.float64)
    factor = rng.uniform(*shift)
    # Coarse ratios keep the polyphase filter short; 16000 / 22050 = 160 / 220.5.
    samples = signal.resample_poly(samples, 160, int(round(160 * rate * factor / RATE)))
    peak = np.max(np.abs(samples), initial=0.0)
    return samples / peak if peak > 0 else np.zeros(RATE // 4)


def progress(what, index, count):
    if (index + 1) % 200 == 0 or index + 1 == count:
        print(f"{what} clip {index + 1}/{count}", flush=True)
