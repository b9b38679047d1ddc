// malformed_blob.cpp -- see generated_blob.h: numbers of a blob's tables changed.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "generated_blob.h"

namespace rnnp_fuzz {
namespace {

using namespace rnnp;
using rnnp_test::BlobTables;

uint32_t odd_number(ByteSource *c, uint32_t old) {
  switch (c->below(6)) {
    case 0:
      return old + c->of({1u, 0xffffffffu, 16u, 0xfffffff0u, 64u});
    case 1:
      return c->of({0u, 1u, 2u, 3u, 4u, 5u, 8u, 16u});
    case 2:
      return c->of({0xffffffffu, 0x7fffffffu, 0x80000000u, 0x40000000u, 0xfffffff0u, 0x00010000u, 0x10000000u});
    case 3:
      return old ^ (1u << c->below(32));
    case 4:
      return c->below(32);
    default:
      return c->word();
  }
}

template <class T>
void corrupt_rows(std::vector<T> *rows, ByteSource *c) {
  if (rows->empty()) return;
  auto *bytes = reinterpret_cast<uint8_t *>(rows->data());
  const uint32_t words = static_cast<uint32_t>(rows->size() * sizeof(T) / 4);
  if (words == 0) return;
  const uint32_t at = c->below(words) * 4;
  uint32_t v;
  std::memcpy(&v, bytes + at, sizeof v);
  v = odd_number(c, v);
  std::memcpy(bytes + at, &v, sizeof v);
}

void corrupt_header(BlobHeader *h, ByteSource *c) {
  uint32_t *const fields[] = {&h->flags,          &h->fixed_batch, &h->panel_format, &h->metadata, &h->sequence_pool_elems,
                              &h->row_pool_elems, &h->stream_steps};
  uint32_t *field = fields[c->below(7)];
  *field = odd_number(c, *field);
}

}  // namespace

void corrupt(BlobTables *t, ByteSource *c) {
  const uint32_t count = c->range(1, 4);
  for (uint32_t i = 0; i < count; ++i) {
    switch (c->below(18)) {
      case 0:
        corrupt_header(&t->header, c);
        break;
      case 1:
      case 2:
        corrupt_rows(&t->values, c);
        break;
      case 3:
      case 4:
        corrupt_rows(&t->nodes, c);
        break;
      case 5:
      case 6:
        if (!t->args.empty())
          t->args[c->below(static_cast<uint32_t>(t->args.size()))] = c->below(static_cast<uint32_t>(t->values.size()) + 2);
        break;
      case 7:
        corrupt_rows(&t->inputs, c);
        break;
      case 8:
        corrupt_rows(&t->outputs, c);
        break;
      case 9:
        corrupt_rows(&t->states, c);
        break;
      case 10:
        if (!t->values.empty()) t->add_output(c->below(static_cast<uint32_t>(t->values.size())));
        break;
      case 11:
        if (t->nodes.size() > 1) std::swap(t->nodes[c->below(static_cast<uint32_t>(t->nodes.size()))], t->nodes[0]);
        break;
      case 12:
        if (!t->values.empty()) t->values[c->below(static_cast<uint32_t>(t->values.size()))].location = c->below(8) * 16;
        break;
      case 13:
      case 14:
        corrupt_rows(&t->matrices, c);
        break;
      default:
        corrupt_rows(&t->attrs, c);
    }
  }
}

}  // namespace rnnp_fuzz
