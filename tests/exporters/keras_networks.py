"""Keras networks as users have them: forecasters, taggers, encoders and decoders, cells of their own, convolutions around layers.

Entries: (name, model). SPDX-License-Identifier: Apache-2.0
"""
import keras
from keras import layers as kl
from keras import ops

STEPS, FEATURES, UNITS = 7, 6, 10
SEQ = {"return_sequences": True}


def chain(*stack, shape=(None, FEATURES), dtype="float32"):
    return keras.Sequential([keras.Input(shape, dtype=dtype), *stack])


def graph(function, *shapes, dtypes=None):
    inputs = [keras.Input(shape, dtype=dtype) for shape, dtype in zip(shapes, dtypes or ["float32"] * len(shapes))]
    return keras.Model(inputs, function(*inputs))


@keras.saving.register_keras_serializable("exporters")
class NormCell(kl.Layer):
    """A GRU whose candidate is normalized."""

    def __init__(self, units, **options):
        super().__init__(**options)
        self.units = self.state_size = self.output_size = units
        self.gates, self.candidate, self.norm = kl.Dense(2 * units, activation="sigmoid"), kl.Dense(units), kl.LayerNormalization()

    def build(self, shape):
        width = shape[-1] + self.units
        self.gates.build((None, width))
        self.candidate.build((None, width))
        self.norm.build((None, self.units))

    def call(self, x, states):
        h = states[0]
        z, r = ops.split(self.gates(ops.concatenate([x, h], -1)), 2, -1)
        n = ops.tanh(self.norm(self.candidate(ops.concatenate([x, r * h], -1))))
        h = z * h + (1 - z) * n
        return h, [h]


@keras.saving.register_keras_serializable("exporters")
class LeakyCell(kl.Layer):
    """An echo state network's cell."""

    def __init__(self, units, **options):
        super().__init__(**options)
        self.units = self.state_size = units

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), name="w")
        self.u = self.add_weight(shape=(self.units, self.units), name="u")

    def call(self, x, states):
        h = 0.7 * states[0] + 0.3 * ops.tanh(ops.matmul(x, self.w) + ops.matmul(states[0], self.u))
        return h, [h]


def attention_decoder(x, y):
    memory, h = kl.GRU(UNITS, return_sequences=True, return_state=True)(x)
    z = kl.GRU(UNITS, **SEQ)(y, initial_state=h)
    return kl.Dense(5, activation="softmax")(kl.Concatenate()([z, kl.AdditiveAttention()([z, memory])]))


def bidirectional_states(x, y):
    _, fh, fc, bh, bc = kl.Bidirectional(kl.LSTM(UNITS, return_state=True))(x)
    return kl.Dense(4)(kl.LSTM(2 * UNITS, **SEQ)(y, initial_state=[kl.Concatenate()([fh, bh]), kl.Concatenate()([fc, bc])]))


def residual(x):
    y = kl.Dense(UNITS)(x)
    for _ in range(3):
        y = kl.Add()([y, kl.GRU(UNITS, **SEQ)(kl.LayerNormalization()(y))])
    return kl.Dense(2)(y)


def last_mean_max(x):
    y = kl.Bidirectional(kl.LSTM(UNITS, **SEQ))(x)
    return kl.Dense(3)(kl.Concatenate()([kl.GlobalAveragePooling1D()(y), kl.GlobalMaxPooling1D()(y), y[:, -1]]))


def two_outputs(x):
    y = kl.GRU(UNITS, **SEQ)(x)
    return [kl.Dense(1, activation="sigmoid", name="each")(y), kl.Dense(3, activation="softmax", name="last")(y[:, -1])]


def context(x, y):
    return kl.LSTM(UNITS, **SEQ)(x, initial_state=[kl.Dense(UNITS, activation="tanh")(y), kl.Dense(UNITS)(y)])


def dilated(x):
    y = x
    for d in (1, 2, 4):
        a = kl.Conv1D(8, 2, padding="causal", dilation_rate=d, activation="tanh")(y)
        b = kl.Conv1D(8, 2, padding="causal", dilation_rate=d, activation="sigmoid")(y)
        y = kl.Conv1D(FEATURES, 1)(kl.Multiply()([a, b])) + y
    return kl.GRU(UNITS)(y)


def autoencoder(x):
    y = kl.LSTM(8)(kl.LSTM(UNITS, **SEQ)(x))
    y = kl.LSTM(UNITS, **SEQ)(kl.LSTM(8, **SEQ)(kl.RepeatVector(STEPS)(y)))
    return kl.TimeDistributed(kl.Dense(FEATURES))(y)


def squeeze(x):
    y = kl.Conv1D(8, 3, padding="same", activation="relu")(x)
    s = kl.Dense(8, activation="sigmoid")(kl.Dense(4, activation="relu")(kl.GlobalAveragePooling1D()(y)))
    y = kl.Multiply()([y, kl.Reshape((1, 8))(s)])
    return kl.Dense(3)(kl.Concatenate()([kl.LSTM(UNITS)(x), kl.GlobalAveragePooling1D()(y)]))


def images(x):
    y = kl.TimeDistributed(kl.Conv2D(4, 3, activation="relu"))(x)
    y = kl.TimeDistributed(kl.Flatten())(kl.TimeDistributed(kl.MaxPooling2D(2))(y))
    return kl.Dense(3, activation="softmax")(kl.LSTM(UNITS)(y))


def transformer(x):
    y = kl.GRU(UNITS, **SEQ)(x)
    y = kl.LayerNormalization()(y + kl.MultiHeadAttention(2, 5)(y, y))
    return kl.LayerNormalization()(y + kl.Dense(UNITS)(kl.Dense(16, activation="gelu")(y)))


def network_models():
    fixed = (STEPS, FEATURES)
    both = kl.Bidirectional
    yield "bidirectional_recurrent_dropout", chain(both(kl.LSTM(UNITS, recurrent_dropout=0.2, **SEQ)), kl.Dense(2))
    yield "recurrent_dropout", chain(kl.GRU(UNITS, recurrent_dropout=0.2, dropout=0.1), kl.Dense(2))
    for mode in ("sum", "mul", "ave"):
        yield f"bidirectional_{mode}", chain(both(kl.LSTM(UNITS, **SEQ), merge_mode=mode), kl.Dense(2))
    yield "bidirectional_last", chain(both(kl.LSTM(UNITS)), kl.Dense(2))
    yield "bidirectional_gru_last", chain(both(kl.GRU(UNITS)), kl.Dense(2))
    yield "bidirectional_two_kinds", chain(both(kl.LSTM(UNITS, **SEQ), backward_layer=kl.GRU(8, go_backwards=True, **SEQ)), kl.Dense(2))
    yield "bidirectional_stacked", chain(both(kl.GRU(UNITS, **SEQ)), both(kl.GRU(8)), kl.Dense(2))
    yield "bidirectional_fixed", chain(both(kl.GRU(UNITS, **SEQ)), both(kl.LSTM(8)), kl.Dense(2), shape=fixed)
    yield "masking_bidirectional", chain(kl.Masking(), both(kl.LSTM(UNITS, **SEQ)), kl.Dense(2))
    yield "masking_bidirectional_stacked", chain(kl.Masking(), both(kl.GRU(UNITS, **SEQ), merge_mode="sum"), both(kl.GRU(8)), kl.Dense(2))
    yield "masking_backwards", chain(kl.Masking(), kl.GRU(UNITS, go_backwards=True, **SEQ), kl.Dense(2))
    yield "masking_backwards_last", chain(kl.Masking(), kl.SimpleRNN(UNITS, go_backwards=True), kl.Dense(2))
    yield "masking_cells", chain(kl.Masking(), kl.RNN([kl.LSTMCell(UNITS), kl.GRUCell(8)], **SEQ), kl.Dense(2))
    yield "masking_stacked", chain(kl.Masking(), kl.GRU(UNITS, **SEQ), kl.GRU(8), kl.Dense(2))
    yield "ids_mask_bidirectional", chain(kl.Embedding(20, 8, mask_zero=True), both(kl.LSTM(UNITS)), kl.Dense(1), shape=(None,), dtype="int32")
    yield "ids_tagger", chain(kl.Embedding(20, 8), kl.SpatialDropout1D(0.2), both(kl.LSTM(UNITS, **SEQ)), kl.Dense(5, activation="softmax"), shape=(None,), dtype="int32")
    yield "ids_conv_lstm", chain(kl.Embedding(20, 8), kl.Conv1D(8, 5, activation="relu", padding="same"), kl.MaxPooling1D(2), kl.LSTM(UNITS), kl.Dense(1), shape=(8,), dtype="int32")
    yield "gru_unrolled", chain(kl.GRU(UNITS, unroll=True, **SEQ), shape=fixed)
    yield "gru_unrolled_last", chain(kl.GRU(UNITS, unroll=True), kl.Dense(2), shape=fixed)
    yield "gru_unrolled_reset_before", chain(kl.GRU(UNITS, unroll=True, reset_after=False, **SEQ), shape=fixed)
    yield "rnn_unrolled", chain(kl.SimpleRNN(UNITS, unroll=True, **SEQ), shape=fixed)
    yield "lstm_unrolled_last", chain(kl.LSTM(UNITS, unroll=True), kl.Dense(2), shape=fixed)
    yield "lstm_unrolled_stacked", chain(kl.LSTM(UNITS, unroll=True, **SEQ), kl.LSTM(8, unroll=True), kl.Dense(2), shape=fixed)
    yield "lstm_unrolled_bidirectional", chain(both(kl.LSTM(UNITS, unroll=True, **SEQ)), shape=fixed)
    yield "cells_unrolled", chain(kl.RNN([kl.LSTMCell(UNITS), kl.GRUCell(8)], unroll=True, **SEQ), shape=fixed)
    yield "cells_stacked_gru", chain(kl.RNN(kl.StackedRNNCells([kl.GRUCell(UNITS), kl.GRUCell(8)]), **SEQ))
    yield "own_cell_normalized", chain(kl.RNN(NormCell(UNITS), **SEQ), kl.Dense(2))
    yield "own_cell_leaky", chain(kl.RNN(LeakyCell(UNITS)), kl.Dense(2))
    yield "own_cell_bidirectional", chain(both(kl.RNN(LeakyCell(UNITS), **SEQ)), kl.Dense(2))
    # What the refusals of loops over reversed steps propose, and masks before unrolled layers.
    yield "own_cell_unrolled_bidirectional", chain(both(kl.RNN(LeakyCell(UNITS), unroll=True, **SEQ)), kl.Dense(2), shape=fixed)
    yield "masking_unrolled_bidirectional", chain(kl.Masking(), both(kl.LSTM(UNITS, unroll=True, **SEQ)), kl.Dense(2), shape=fixed)
    yield "ids_mask_unrolled_bidirectional", chain(kl.Embedding(20, 8, mask_zero=True), both(kl.LSTM(UNITS, unroll=True)), kl.Dense(1), shape=(STEPS,), dtype="int32")
    for name in ("lstm", "gru", "simple_rnn"):
        kind = {"lstm": kl.LSTM, "gru": kl.GRU, "simple_rnn": kl.SimpleRNN}[name]
        yield f"{name}_softsign", chain(kind(UNITS, activation="softsign", **SEQ))
    yield "gru_hard_sigmoid", chain(kl.GRU(UNITS, recurrent_activation="hard_sigmoid"), kl.Dense(2))
    yield "gru_no_bias", chain(kl.GRU(UNITS, use_bias=False, **SEQ))
    yield "gru_linear", chain(kl.GRU(UNITS, activation="linear", **SEQ))
    yield "gru_stateful", keras.Sequential([keras.Input(batch_shape=(2, STEPS, FEATURES)), kl.GRU(UNITS, stateful=True, **SEQ)])
    yield "time_distributed_fixed", chain(kl.LSTM(UNITS, **SEQ), kl.TimeDistributed(kl.Dense(3)), shape=fixed)
    yield "time_distributed_images", graph(images, (5, 8, 8, 1))
    yield "autoencoder", graph(autoencoder, fixed)
    yield "encoder_decoder_bidirectional", graph(bidirectional_states, (None, FEATURES), (None, FEATURES))
    yield "encoder_decoder_additive", graph(attention_decoder, (None, FEATURES), (None, FEATURES))
    yield "state_from_context", graph(context, (None, FEATURES), (4,))
    yield "residual_stack", graph(residual, (None, FEATURES))
    yield "last_mean_max", graph(last_mean_max, (None, FEATURES))
    yield "two_outputs", graph(two_outputs, (None, FEATURES))
    yield "dilated_gated", graph(dilated, (None, FEATURES))
    yield "squeeze_beside_lstm", graph(squeeze, fixed)
    yield "transformer_behind", graph(transformer, (None, FEATURES))
    yield "separable_front", chain(kl.SeparableConv1D(8, 3, padding="same", activation="relu"), kl.BatchNormalization(), kl.GRU(UNITS))
    yield "depthwise_front", chain(kl.DepthwiseConv1D(3, padding="same"), kl.ReLU(), kl.LSTM(UNITS, **SEQ))
    yield "conv_valid_fixed", chain(kl.Conv1D(8, 3, activation="relu"), kl.AveragePooling1D(2), kl.LSTM(UNITS), shape=(10, FEATURES))
    yield "conv_valid_open", chain(kl.Conv1D(8, 3, activation="relu"), kl.LSTM(UNITS))
    yield "up_sampling", chain(kl.GRU(UNITS, **SEQ), kl.UpSampling1D(2), kl.Conv1D(3, 3, padding="same"), shape=fixed)
    yield "padding_cropping", chain(kl.ZeroPadding1D((2, 0)), kl.Conv1D(8, 3), kl.GRU(UNITS, **SEQ), kl.Cropping1D((1, 0)), shape=fixed)
    yield "conv_transpose", chain(kl.GRU(UNITS, **SEQ), kl.Conv1DTranspose(3, 2, strides=2), shape=fixed)
    yield "conv_lstm_open", chain(kl.ConvLSTM1D(4, 3, padding="same"), shape=(None, 8, 2))
    yield "activations", chain(kl.GRU(UNITS, **SEQ), kl.LeakyReLU(0.1), kl.Dense(8), kl.PReLU(shared_axes=[1]), kl.Dense(4, activation="elu"), kl.Dense(4, activation="selu"))
    yield "swish_gelu", chain(kl.LSTM(UNITS, **SEQ), kl.Dense(8, activation="swish"), kl.Dense(4, activation="gelu"), kl.Dense(2, activation="softplus"))
    yield "rescaled", chain(kl.Rescaling(0.5, offset=-0.1), kl.GRU(UNITS), kl.Dense(2, activation="tanh"))
    yield "group_normalized", chain(kl.LSTM(UNITS, **SEQ), kl.GroupNormalization(2), kl.Dense(2), shape=fixed)
    yield "permuted_attention", chain(kl.Permute((2, 1)), kl.Dense(STEPS, activation="softmax"), kl.Permute((2, 1)), kl.LSTM(UNITS), shape=fixed)
    yield "noise_and_dropout", chain(kl.GaussianNoise(0.1), kl.LSTM(UNITS, dropout=0.2), kl.Dropout(0.5), kl.Dense(1))
