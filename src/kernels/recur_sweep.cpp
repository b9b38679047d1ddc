// recur_sweep.cpp -- one step after the other, one group of tiles after the other, and the products of each block before its cells.
// Room: kernels. Contract: recur_sweep.h; of products: kernels.h, RecurArgs, W's part first, then R's, one chain per
// pre-activation. Why so: at one row the panels stream past once and several tiles together give enough chains of multiply-adds;
// with more rows a tile's panel is taken from the nearest cache by each block of rows. SPDX-License-Identifier: Apache-2.0
#include "kernels/recur_sweep.h"

#include "kernels/block_walk.h"
#include "kernels/next_step.h"

namespace rnnp {
namespace {

constexpr size_t kNearBytes = 72 * 1024;

// The products of blocks into buffers: pre[m][t][gates * NR], nx[m][t][NR].
struct StepProducts {
  const RecurArgs *args;
  const SweepShape *shape;
  Ahead ahead = {};
  size_t ahead_step;  // where it asks evenly

  // NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject)
  RNNPACK_INLINE StepProducts(const RecurArgs *a, const SweepShape *s) : args(a), shape(s) {}

  // Of b->k terms.
  void place_panel(BlockArgs *b, const float *panels, size_t tile) const {
    b->panel_k = shape->blocks->tile_floats * sizeof(float);
    b->panel_tile = b->k * b->panel_k;
    b->panel = static_cast<const uint8_t *>(static_cast<const void *>(panels)) + tile * b->panel_tile;
  }

  BlockArgs block_into(float *pre, uint32_t tiles) const {
    BlockArgs b;
    b.out_tile = shape->blocks->tile_floats;
    b.out = pre;
    b.columns = kAllColumns;
    b.out_row_bytes = tiles * b.out_tile * sizeof(float);
    if (kAsksEvenly) b.ahead_step = ahead_step;
    return b;
  }

  // The input's part: bias + x * W.
  void start_from_x(size_t row, size_t tile, uint32_t rows, uint32_t tiles, float *pre) const {
    BlockArgs b = block_into(pre, tiles);
    b.start = args->bias + tile * b.out_tile;
    b.start_row_bytes = 0;
    b.start_tile = b.out_tile;
    b.last_start = nullptr;
    b.a = offset_bytes(args->x, row * args->x_row_bytes);
    b.a_row_bytes = args->x_row_bytes;
    b.k = args->input_size;
    place_panel(&b, args->w, tile);
    Ahead none = {};
    run_block(*shape->blocks, rows, tiles, &b, &none);
  }

  // `rows` rows from `row`, as many tiles as one block takes of the `left` ones that start at `tile` (descending: end before it).
  uint32_t run(size_t row, size_t tile, uint32_t left, uint32_t rows, float *pre, float *nx) {
    const uint32_t tiles = next_tiles(*shape->blocks, rows, left);
    if (args->descending) tile -= tiles;
    const bool from_x = shape->has_w && args->x != nullptr;
    const bool splits = shape->split != nullptr && (!shape->blocks_split || from_x || args->r_bias_row_bytes != 0);
    if (from_x) start_from_x(row, tile, rows, tiles, pre);
    if (splits) shape->split(args, row, tile, rows, tiles, pre, nx);
    BlockArgs b = block_into(pre, tiles);
    if (from_x || splits) {
      b.start = pre;
      b.start_row_bytes = b.out_row_bytes;
      b.start_tile = b.out_tile;
    } else {
      b.start = offset_bytes(args->preact, row * args->preact_row_bytes) + tile * shape->pre_floats + shape->pre_first;
      b.start_row_bytes = args->preact_row_bytes;
      b.start_tile = shape->pre_floats;
    }
    b.last_start = shape->split != nullptr && !splits ? args->r_bias + tile * shape->nr : nullptr;
    b.last_tile = shape->nr;
    b.a = offset_bytes(shape->pre_first != 0 ? args->rh : args->h_prev, row * args->state_row_bytes);
    b.a_row_bytes = args->state_row_bytes;
    b.k = args->recurrent_k;
    place_panel(&b, args->r, tile);
    run_block(*shape->blocks, rows, tiles, &b, &ahead);
    return tiles;
  }
};

struct Sweep {
  const RecurArgs *args;
  const CellCode *code;
  StepProducts products;

  // `count` tiles for some rows, by way of a buffer, in the sweep's direction: upwards from `tile`, or downwards ending before it.
  RNNPACK_NOINLINE void by_buffer(size_t row, size_t tile, uint32_t count, uint32_t rows) {
    alignas(64) float pre[kSweepFloats];
    alignas(64) float nx[kSweepSplitFloats];
    while (count != 0) {
      const uint32_t done = products.run(row, tile, count, rows, pre, nx);
      code->cells(args, row, args->descending ? tile - done : tile, rows, done, pre, nx);
      count -= done;
      tile = args->descending ? tile - done : tile + done;
    }
  }

  // The same for one row, from registers straight into the cells.
  void one_row(size_t row, size_t tile, uint32_t count, uint32_t together) {
    while (count != 0) {
      const uint32_t done = even_share(count, together);
      if (done > code->fused_tiles) {
        by_buffer(row, tile, done, 1);
      } else {
        code->fused[done - 1](args, row, args->descending ? tile - done : tile);
      }
      tile = args->descending ? tile - done : tile + done;
      count -= done;
    }
  }

  // Rows in blocks of nearly equal height. All blocks pass over a small group of tiles before the next group: its panels are then
  // near.
  RNNPACK_INLINE void all(uint32_t together) {
    const BlockLayout &blocks = *products.shape->blocks;
    const uint32_t count = args->tile_end - args->tile_begin;
    const size_t start = args->descending ? args->tile_end : args->tile_begin;
    const size_t panel_bytes = size_t{args->recurrent_k} * blocks.tile_floats * sizeof(float);
    const uint8_t *panels = static_cast<const uint8_t *>(static_cast<const void *>(args->r));
    // A panel that fills much of L1 is passed over alone.
    const uint32_t near_group = panel_bytes > kFarPanelBytes && args->prefetch_next_tile ? 1 : blocks.most_tiles[1];
    const uint32_t step = args->rows == 1 || (args->rows <= blocks.most_rows && !args->prefetch_next_tile) ? count : near_group;
    const AskShare share = ask_share(blocks, args->prefetch_next_tile ? panel_bytes : 0, args->rows, step, args->recurrent_k);
    if (kAsksEvenly) products.ahead_step = share.step;
    for (uint32_t done = 0; done < count; done += step) {
      const uint32_t group = count - done < step ? count - done : step;
      const uint32_t next = count - done - group < step ? count - done - group : step;
      const size_t tile = args->descending ? start - done : start + done;
      const size_t next_tile = args->descending ? tile - group - next : tile + group;
      products.ahead = ahead_of(share, panels + next_tile * panel_bytes, args->prefetch_next_tile ? next * panel_bytes : 0);
      for (uint32_t row = 0; row < args->rows;) {
        const uint32_t rows = even_share(args->rows - row, blocks.most_rows);
        if (rows == 1 && code->fused_tiles != 0) {
          one_row(row, tile, group, together);
        } else {
          by_buffer(row, tile, group, rows);
        }
        row += rows;
      }
    }
  }
};

// Tiles of one row that go together.
RNNPACK_INLINE uint32_t fused_tiles(const RecurArgs *args, const SweepShape *shape) {
  const uint32_t count = args->tile_end - args->tile_begin;
  if (count == 1) return 1;
  const size_t k = size_t{args->recurrent_k} + (args->x != nullptr ? args->input_size : 0);
  const bool near = k * count * (shape->blocks->tile_floats * sizeof(float)) <= kNearBytes;
  return near ? shape->blocks->most_tiles[0] : shape->far_tiles;
}

RNNPACK_NOINLINE void by_rows_and_tiles(const RecurArgs *args, const CellCode *code, uint32_t together) {
  Sweep sweep = {args, code, {args, code->shape}};
  sweep.all(together);
}

// What takes least time by itself comes first: it has no frame of its own.
RNNPACK_INLINE void one_step(const RecurArgs *args, const CellCode *code, uint32_t together) {
  const uint32_t count = args->tile_end - args->tile_begin;
  const bool fused = args->rows == 1 && count <= code->fused_tiles && count <= together;
  return fused ? code->fused[count - 1](args, 0, args->tile_begin) : by_rows_and_tiles(args, code, together);
}

RNNPACK_NOINLINE void many_steps(const RecurArgs *args, const CellCode *code, uint32_t together) {
  RecurArgs step = *args;
  for (; step.steps != 0; next_step(&step)) one_step(&step, code, together);
}

}  // namespace

void recur_sweep(const RecurArgs *args, const CellCode *code) {
  const uint32_t together = fused_tiles(args, code->shape);
  const uint32_t parts = (args->hidden_size + code->step_units - 1) / code->step_units;
  const StepsFn steps = args->rows == 1 && parts <= kMostStepParts ? code->steps[parts - 1] : nullptr;
  const bool all_tiles = (args->tile_end - args->tile_begin) * code->shape->nr >= args->hidden_size;
  const bool leaves_out = all_tiles && parts * code->step_units % code->shape->nr != 0;
  if (steps != nullptr && (args->steps > 1 || leaves_out)) return steps(args);
  return args->steps > 1 ? many_steps(args, code, together) : one_step(args, code, together);
}

}  // namespace rnnp
