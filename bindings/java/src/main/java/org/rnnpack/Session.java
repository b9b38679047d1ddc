// Session.java -- a running instance: the states of its rows, and runs on direct buffers of the caller, which are not copied.
// SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/** Used by one thread at a time: another one's call throws IllegalStateException. Close it: there is no finalizer. */
public final class Session implements AutoCloseable {
    private static final AtomicIntegerFieldUpdater<Session> BUSY = AtomicIntegerFieldUpdater.newUpdater(Session.class, "busy");

    private final Model model;
    private final Model.Blob blob;
    private final int maxBatch;
    private final int stateBytes;
    private final long xElems;
    private final long yElems;
    private final boolean yPerStep;
    private final Place from = new Place();
    private final Place to = new Place();
    private long handle;
    private volatile int busy;

    public Session(Model model) {
        this(model, new Options());
    }

    public Session(Model model, Options options) {
        this.model = model;
        maxBatch = options.maxBatch != 0 ? options.maxBatch : Math.max(1, model.fixedBatch());
        blob = model.hold();
        long[] sizes = new long[1];
        handle = Native.openSession(blob.handle, maxBatch, options.maxSteps, options.chunkSteps, options.isaAllowed, sizes);
        if (handle < 0) {
            String why = Native.explain(blob.handle, maxBatch, options.maxSteps, options.chunkSteps, options.isaAllowed);
            blob.release();
            throw RnnpackException.of((int) handle, "session", why);
        }
        stateBytes = (int) sizes[0];
        long elems = 0;
        for (Tensor tensor : model.inputs()) {
            if (elems == 0 && tensor.role == Role.SEQUENCE && !tensor.isInt) elems = tensor.elems(1, maxBatch);
        }
        xElems = elems;
        yElems = model.outputs().isEmpty() ? 0 : model.outputs().get(0).elems(1, maxBatch);
        yPerStep = !model.outputs().isEmpty() && model.outputs().get(0).role == Role.SEQUENCE;
    }

    /** A direct buffer in the machine's byte order, for runs. */
    public static FloatBuffer floats(int elems) {
        return ByteBuffer.allocateDirect(Math.multiplyExact(elems, 4)).order(ByteOrder.nativeOrder()).asFloatBuffer();
    }

    public static IntBuffer ints(int elems) {
        return ByteBuffer.allocateDirect(Math.multiplyExact(elems, 4)).order(ByteOrder.nativeOrder()).asIntBuffer();
    }

    public Model model() {
        return model;
    }

    public int maxBatch() {
        return maxBatch;
    }

    /** Of saveState. */
    public int stateBytes() {
        return stateBytes;
    }

    /** The name of the instruction set of the recurrent kernels in use. */
    public String isa() {
        enter();
        try {
            return Native.isaName(Native.sessionIsa(handle));
        } finally {
            busy = 0;
        }
    }

    /** One step of all rows: what remains of x in, what remains of y out. Positions stay. */
    public void step(FloatBuffer x, FloatBuffer y) {
        enter();
        int status;
        try {
            fit(x, xElems, "input");
            fit(y, yElems, "output");
            status = Native.step(handle, from.of(x), to.of(y));
            if (status != 0) fail(status, "step");
        } finally {
            busy = 0;
        }
    }

    /** Steps of all rows, [steps][maxBatch][rowElems]. */
    public void run(int steps, FloatBuffer x, FloatBuffer y) {
        enter();
        try {
            fit(x, steps * xElems, "input");
            fit(y, yPerStep ? steps * yElems : yElems, "output");
            int status = Native.run(handle, steps, from.of(x), to.of(y));
            if (status != 0) fail(status, "run");
        } finally {
            busy = 0;
        }
    }

    /**
     * Any inputs and outputs, as direct FloatBuffers or IntBuffers in the model's order; null leaves an optional input out, or an
     * output unwritten. flags: Constants.RUN_*; rows and lengths, or null, have a number for each row that runs.
     */
    public void run(int steps, int batch, List<? extends Buffer> inputs, List<? extends Buffer> outputs, int flags, int[] rows, int[] lengths) {
        if (steps < 0 || batch < 0 || batch > maxBatch) throw RnnpackException.of(Status.SHAPE.code, "run", steps + " steps of " + batch + " rows; the session has " + maxBatch);
        if ((rows != null && rows.length < batch) || (lengths != null && lengths.length < batch)) {
            throw RnnpackException.of(Status.SHAPE.code, "run", "rows and lengths have a number for each row");
        }
        enter();
        try {
            boolean last = (flags & Constants.RUN_LAST_STEP) != 0;
            int status = Native.runIo(handle, steps, batch, flags, rows, lengths, addresses(inputs, model.inputs(), steps, batch), addresses(outputs, model.outputs(), last ? 1 : steps, batch));
            if (status != 0) fail(status, "run");
        } finally {
            busy = 0;
        }
    }

    /** All rows to the initial state. */
    public void reset() {
        reset(Constants.ALL_ROWS);
    }

    public void reset(int row) {
        enter();
        try {
            RnnpackException.check(Native.reset(handle, row), "reset");
        } finally {
            busy = 0;
        }
    }

    /** A row's state, as bytes that every language loads. */
    public byte[] saveState(int row) {
        enter();
        try {
            byte[] saved = new byte[stateBytes];
            RnnpackException.check(Native.saveState(handle, row, saved), "save");
            return saved;
        } finally {
            busy = 0;
        }
    }

    public void loadState(int row, byte[] saved) {
        enter();
        try {
            RnnpackException.check(Native.loadState(handle, row, saved), "load");
        } finally {
            busy = 0;
        }
    }

    @Override
    public void close() {
        if (!BUSY.compareAndSet(this, 0, 1)) throw new IllegalStateException("the session is in use by another thread");
        if (handle != 0) {
            Native.closeSession(handle);
            handle = 0;
            blob.release();
        }
        busy = 0;
    }

    private void enter() {
        if (!BUSY.compareAndSet(this, 0, 1)) throw new IllegalStateException("the session is in use by another thread");
        if (handle != 0) return;
        busy = 0;
        throw new IllegalStateException("the session is closed");
    }

    private void fail(int status, String doing) {
        throw RnnpackException.of(status, doing, Native.lastError(handle));
    }

    private void fit(FloatBuffer buffer, long elems, String side) {
        if (xElems == 0) throw RnnpackException.of(Status.INPUTS.code, "run", null);
        if (buffer.remaining() != elems) throw RnnpackException.of(Status.SHAPE.code, side, buffer.remaining() + " floats remain, " + elems + " are needed");
    }

    private static long[] addresses(List<? extends Buffer> buffers, List<Tensor> tensors, int steps, int batch) {
        if (buffers.size() != tensors.size()) throw RnnpackException.of(Status.SHAPE.code, "run", buffers.size() + " tensors; the model has " + tensors.size());
        long[] at = new long[tensors.size()];
        for (int i = 0; i < at.length; ++i) {
            Buffer buffer = buffers.get(i);
            Tensor tensor = tensors.get(i);
            if (buffer == null) continue;
            if (!(tensor.isInt ? buffer instanceof IntBuffer : buffer instanceof FloatBuffer)) throw RnnpackException.of(Status.ARG.code, tensor.name, "has other elements");
            if (buffer.remaining() < tensor.elems(steps, batch)) throw RnnpackException.of(Status.SHAPE.code, tensor.name, buffer.remaining() + " elements remain, the run has " + tensor.elems(steps, batch));
            at[i] = new Place().of(buffer);
        }
        return at;
    }

    /** Where a direct buffer's position lies. The last buffer's base is remembered, because asking for it takes as long as a small step. */
    private static final class Place {
        private Buffer last;
        private long base;

        long of(Buffer buffer) {
            if (buffer != last) {
                ByteOrder order = buffer instanceof FloatBuffer ? ((FloatBuffer) buffer).order() : ((IntBuffer) buffer).order();
                base = buffer.isDirect() && order == ByteOrder.nativeOrder() ? Native.address(buffer) : 0;
                if (base == 0) throw new IllegalArgumentException("a direct buffer in the native byte order is needed: Session.floats");
                last = buffer;
            }
            return base + 4L * buffer.position();
        }
    }
}
