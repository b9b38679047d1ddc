// Session.cs -- a running instance: the states of its rows, and runs on the caller's spans and arrays, which are pinned and not copied.
// SPDX-License-Identifier: Apache-2.0
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using Rnnpack.Interop;

namespace Rnnpack
{
    public sealed class Options
    {
        /// <summary>Rows: streams of their own.</summary>
        public int MaxBatch { get; set; } = 1;
        /// <summary>The longest run of a model that is not causal; causal ones have no limit.</summary>
        public int MaxSteps { get; set; }
        /// <summary>0: chosen by the sizes of weights and caches.</summary>
        public int ChunkSteps { get; set; }
        /// <summary>Constants.Isa...; 0 allows all. IsaReferenceOnly has the same bits on every CPU.</summary>
        public uint IsaAllowed { get; set; }
    }

    /// <summary>Used by one thread at a time: another one's call throws InvalidOperationException.</summary>
    public sealed unsafe class Session : IDisposable
    {
        private readonly SessionHandle handle;
        private readonly int xElems, yElems;
        private readonly bool yPerStep;
        private int busy;

        public Session(Model model, Options options = null)
        {
            options = options ?? new Options { MaxBatch = Math.Max(1, model.FixedBatch) };
            Model = model;
            MaxBatch = options.MaxBatch;
            Interop.SessionOptions native = default;
            Native.rnnp_session_options_init(&native, (UIntPtr)sizeof(Interop.SessionOptions));
            native.max_batch = Number(options.MaxBatch, nameof(options.MaxBatch));
            native.max_steps = Number(options.MaxSteps, nameof(options.MaxSteps));
            native.chunk_steps = Number(options.ChunkSteps, nameof(options.ChunkSteps));
            native.isa_allowed = options.IsaAllowed;
            handle = new SessionHandle(model.Open(), &native);
            foreach (Tensor tensor in model.Inputs)
            {
                if (xElems == 0 && tensor.Role == Role.Sequence && !tensor.IsInt32) xElems = checked(tensor.RowElems * MaxBatch);
            }
            if (model.Outputs.Count > 0) yElems = checked(model.Outputs[0].RowElems * MaxBatch);
            yPerStep = model.Outputs.Count > 0 && model.Outputs[0].Role == Role.Sequence;
        }

        public Model Model { get; }
        public int MaxBatch { get; }
        /// <summary>Of SaveState.</summary>
        public int StateBytes => handle.StateBytes;

        /// <summary>The name of the instruction set of the recurrent kernels in use.</summary>
        public string Isa
        {
            get
            {
                Enter();
                try
                {
                    Interop.SessionInfo info = default;
                    info.struct_bytes = (uint)sizeof(Interop.SessionInfo);
                    RnnpackException.Check(Native.rnnp_session_get_info(handle.Session, &info), "session info");
                    return Utf8.Read(Native.rnnp_isa_name(info.isa));
                }
                finally { Leave(); }
            }
        }

        /// <summary>One step of all rows: the first sequence in, the first output out.</summary>
        public void Step(ReadOnlySpan<float> x, Span<float> y)
        {
            if (x.Length != xElems || y.Length != yElems) throw Misfit(x.Length, y.Length, 1);
            Enter();
            Status status;
            fixed (float* from = x, to = y) status = Native.rnnp_step(handle.Session, (IntPtr)from, (IntPtr)to);
            if (status != Status.Ok) Fail(status, "step");
            Leave();
        }

        /// <summary>The same on whole arrays: mono makes spans of them in 15 ns.</summary>
        public void Step(float[] x, float[] y)
        {
            if (x == null || y == null || x.Length != xElems || y.Length != yElems) throw Misfit(x?.Length ?? 0, y?.Length ?? 0, 1);
            Enter();
            Status status;
            fixed (float* from = x, to = y) status = Native.rnnp_step(handle.Session, (IntPtr)from, (IntPtr)to);
            if (status != Status.Ok) Fail(status, "step");
            Leave();
        }

        /// <summary>Steps of all rows, [steps][MaxBatch][RowElems].</summary>
        public void Run(int steps, ReadOnlySpan<float> x, Span<float> y)
        {
            if (steps < 0 || x.Length != (long)steps * xElems || y.Length != (yPerStep ? (long)steps : 1) * yElems) throw Misfit(x.Length, y.Length, steps);
            Enter();
            Status status;
            fixed (float* from = x, to = y) status = Native.rnnp_run(handle.Session, (UIntPtr)steps, (IntPtr)from, (IntPtr)to);
            if (status != Status.Ok) Fail(status, "run");
            Leave();
        }

        /// <summary>Any inputs and outputs, as float[] or int[] in the model's order; null leaves an optional input out, or an output
        /// unwritten. flags: Constants.Run...; rows and lengths have a number for each row that runs.</summary>
        public void Run(int steps, int batch, IReadOnlyList<Array> inputs, IReadOnlyList<Array> outputs, uint flags = 0, uint[] rows = null, int[] lengths = null)
        {
            Number(steps, nameof(steps));
            if (batch < 0 || batch > MaxBatch) throw new RnnpackException(Status.Shape, "run", batch + " rows; the session has " + MaxBatch);
            if ((rows != null && rows.Length < batch) || (lengths != null && lengths.Length < batch))
                throw new RnnpackException(Status.Shape, "run", "rows and lengths have a number for each row");
            Enter();
            var pins = new List<GCHandle>();
            try
            {
                bool last = (flags & Constants.RunLastStep) != 0;
                var x = Pin(inputs, Model.Inputs, steps, batch, false, pins);
                var y = Pin(outputs, Model.Outputs, steps, batch, last, pins);
                Status status;
                fixed (ConstBuffer* from = x, to = y)
                fixed (uint* rowsAt = rows)
                fixed (int* lengthsAt = lengths)
                {
                    Io io = default;
                    io.struct_bytes = (uint)sizeof(Io);
                    io.buffer_bytes = (uint)sizeof(ConstBuffer);
                    io.flags = flags;
                    io.batch = (uint)batch;
                    io.steps = (UIntPtr)steps;
                    io.input_count = (uint)x.Length;
                    io.output_count = (uint)y.Length;
                    io.inputs = (IntPtr)from;
                    io.outputs = (IntPtr)to;
                    io.rows = (IntPtr)rowsAt;
                    io.lengths = (IntPtr)lengthsAt;
                    status = Native.rnnp_run_io(handle.Session, &io);
                }
                if (status != Status.Ok) throw new RnnpackException(status, "run", Utf8.Read(Native.rnnp_session_last_error(handle.Session)));
            }
            finally
            {
                foreach (GCHandle pin in pins) pin.Free();
                Leave();
            }
        }

        /// <summary>To the initial state: one row, or all (-1).</summary>
        public void Reset(int row = -1)
        {
            Enter();
            try { RnnpackException.Check(Native.rnnp_state_reset(handle.Session, unchecked((uint)row)), "reset"); }
            finally { Leave(); }
        }

        /// <summary>A row's state, as bytes that every language loads.</summary>
        public byte[] SaveState(int row = 0)
        {
            Enter();
            try
            {
                var saved = new byte[StateBytes];
                fixed (byte* to = saved) RnnpackException.Check(Native.rnnp_state_save(handle.Session, (uint)row, (IntPtr)to, (UIntPtr)saved.Length), "save");
                return saved;
            }
            finally { Leave(); }
        }

        public void LoadState(ReadOnlySpan<byte> saved, int row = 0)
        {
            Enter();
            try
            {
                fixed (byte* from = saved) RnnpackException.Check(Native.rnnp_state_load(handle.Session, (uint)row, (IntPtr)from, (UIntPtr)saved.Length), "load");
            }
            finally { Leave(); }
        }

        public void Dispose()
        {
            if (handle.IsClosed) return;
            Enter();
            handle.Dispose();
            Leave();
        }

        private void Enter()
        {
            if (Interlocked.CompareExchange(ref busy, 1, 0) != 0) throw new InvalidOperationException("the session is in use by another thread");
            if (!handle.IsClosed) return;
            Volatile.Write(ref busy, 0);
            throw new ObjectDisposedException(nameof(Session));
        }

        // Volatile, and a use of this session behind the call: it is not finalized while the library works.
        private void Leave() => Volatile.Write(ref busy, 0);

        private void Fail(Status status, string doing)
        {
            string why = Utf8.Read(Native.rnnp_session_last_error(handle.Session));
            Leave();
            throw new RnnpackException(status, doing, why);
        }

        private Exception Misfit(int x, int y, int steps)
        {
            if (handle.IsClosed) return new ObjectDisposedException(nameof(Session));
            if (xElems == 0) return new RnnpackException(Status.Inputs, "run");
            return new RnnpackException(Status.Shape, "run", x + " and " + y + " floats; " + steps + " steps have " + (long)steps * xElems + " and " + (yPerStep ? (long)steps : 1) * yElems);
        }

        private static uint Number(int value, string name)
        {
            if (value < 0) throw new RnnpackException(Status.Shape, name, "is negative");
            return (uint)value;
        }

        private static ConstBuffer[] Pin(IReadOnlyList<Array> arrays, IReadOnlyList<Tensor> tensors, int steps, int batch, bool last, List<GCHandle> pins)
        {
            if (arrays.Count != tensors.Count) throw new RnnpackException(Status.Shape, "run", arrays.Count + " tensors; the model has " + tensors.Count);
            var buffers = new ConstBuffer[arrays.Count];
            for (int i = 0; i < buffers.Length; ++i)
            {
                Array array = arrays[i];
                if (array == null) continue;
                Tensor tensor = tensors[i];
                long elems = (long)tensor.RowElems * batch * (tensor.Role == Role.Sequence && !last ? steps : 1);
                if (array.GetType() != (tensor.IsInt32 ? typeof(int[]) : typeof(float[]))) throw new RnnpackException(Status.Arg, tensor.Name, "has other elements");
                if (array.Length < elems) throw new RnnpackException(Status.Shape, tensor.Name, array.Length + " elements; the run has " + elems);
                pins.Add(GCHandle.Alloc(array, GCHandleType.Pinned));
                buffers[i].data = array.Length == 0 ? IntPtr.Zero : pins[pins.Count - 1].AddrOfPinnedObject();
            }
            return buffers;
        }
    }
}
