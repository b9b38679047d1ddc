// Model.java -- an opened blob: what it takes and gives, and its sessions. SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A blob, checked and opened. Immutable: sessions of several threads may share it. */
public final class Model implements AutoCloseable {
    /** The native model with its blob; freed by the last of the model and its sessions. */
    static final class Blob {
        final long handle;
        private final AtomicInteger users = new AtomicInteger(1);

        Blob(long handle) {
            this.handle = handle;
        }

        /** False where it is freed already. */
        boolean retain() {
            for (int now = users.get(); now > 0; now = users.get()) {
                if (users.compareAndSet(now, now + 1)) return true;
            }
            return false;
        }

        void release() {
            if (users.decrementAndGet() == 0) Native.closeModel(handle);
        }
    }

    private final Blob blob;
    private final List<Tensor> inputs;
    private final List<Tensor> outputs;
    private final long[] facts = new long[6];
    private boolean closed;

    /** The bytes that `rnnpack compile` wrote; copied once. */
    public Model(byte[] bytes) {
        this(bytes, false);
    }

    public Model(byte[] bytes, boolean checkWeights) {
        long handle = Native.openModel(bytes, checkWeights);
        if (handle < 0) throw RnnpackException.of((int) handle, "open", null);
        blob = new Blob(handle);
        RnnpackException.check(Native.modelInfo(handle, facts), "model info");
        inputs = tensors(true, (int) facts[0]);
        outputs = tensors(false, (int) facts[1]);
    }

    public List<Tensor> inputs() {
        return inputs;
    }

    public List<Tensor> outputs() {
        return outputs;
    }

    /** Runs in pieces of any length, step by step too. */
    public boolean isCausal() {
        return facts[2] != 0;
    }

    /** 0, or the only batch that the model was exported for. */
    public int fixedBatch() {
        return (int) facts[3];
    }

    public long weightBytes() {
        return facts[4];
    }

    public long modelId() {
        return facts[5];
    }

    /** The text that the blob has for a key, or null. */
    public String meta(String key) {
        Blob held = hold();
        try {
            return Native.meta(held.handle, key);
        } finally {
            held.release();
        }
    }

    /** Sessions that are open keep the blob until they are closed, too. */
    @Override
    public synchronized void close() {
        if (closed) return;
        closed = true;
        blob.release();
    }

    /** For a session, or a call: released by who asked. */
    synchronized Blob hold() {
        if (closed || !blob.retain()) throw new IllegalStateException("the model is closed");
        return blob;
    }

    private List<Tensor> tensors(boolean input, int count) {
        List<Tensor> list = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            int[] facts = new int[Tensor.FACTS];
            list.add(new Tensor(Native.tensor(blob.handle, input, i, facts), facts));
        }
        return Collections.unmodifiableList(list);
    }
}
