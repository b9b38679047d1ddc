// Handles.cs -- what is freed: aligned memory with a blob or a session in it, and texts of the library. A session's handle keeps its
// model's, so the blob goes last. SPDX-License-Identifier: Apache-2.0
using System;
using System.Runtime.InteropServices;
using System.Text;
using Rnnpack.Interop;

namespace Rnnpack
{
    /// <summary>Memory at a multiple of an alignment, freed with the handle.</summary>
    internal abstract class AlignedHandle : SafeHandle
    {
        private IntPtr block;

        protected AlignedHandle() : base(IntPtr.Zero, true) { }

        public override bool IsInvalid => handle == IntPtr.Zero;

        /// <summary>Throws OutOfMemoryException.</summary>
        protected IntPtr Take(long bytes, long alignment)
        {
            block = Marshal.AllocHGlobal(new IntPtr(checked(bytes + alignment)));
            GC.AddMemoryPressure(Pressure = bytes + alignment);
            handle = new IntPtr((block.ToInt64() + alignment - 1) / alignment * alignment);
            return handle;
        }

        private long Pressure { get; set; }

        protected override bool ReleaseHandle()
        {
            Marshal.FreeHGlobal(block);
            GC.RemoveMemoryPressure(Pressure);
            return true;
        }
    }

    /// <summary>rnnp_model, and behind it the blob.</summary>
    internal sealed unsafe class ModelHandle : AlignedHandle
    {
        private static readonly int Head = (sizeof(Interop.Model) + (int)Constants.BlobAlign - 1) / (int)Constants.BlobAlign * (int)Constants.BlobAlign;

        internal ModelHandle(ReadOnlySpan<byte> blob, bool checkWeights)
        {
            Take((long)Head + blob.Length, Constants.BlobAlign);
            blob.CopyTo(new Span<byte>((byte*)handle + Head, blob.Length));
            Status status = Native.rnnp_model_open(Pointer, handle + Head, (UIntPtr)blob.Length, checkWeights ? Constants.OpenCheckWeights : 0);
            if (status == Status.Ok) return;
            Dispose();
            throw new RnnpackException(status, "open");
        }

        internal Interop.Model* Pointer => (Interop.Model*)handle;
    }

    /// <summary>A session's memory.</summary>
    internal sealed unsafe class SessionHandle : AlignedHandle
    {
        private readonly ModelHandle model;

        internal SessionHandle(ModelHandle model, Interop.SessionOptions* options)
        {
            bool kept = false;
            model.DangerousAddRef(ref kept);
            this.model = model;
            Interop.Memory need = default;
            need.struct_bytes = (uint)sizeof(Interop.Memory);
            Status status = Native.rnnp_session_memory(model.Pointer, options, &need);
            if (status == Status.Ok)
            {
                Take((long)need.session_bytes, need.alignment);
                IntPtr session;
                status = Native.rnnp_session_init(&session, model.Pointer, options, handle, need.session_bytes);
                Session = session;
                StateBytes = (int)need.state_bytes;
            }
            if (status == Status.Ok) return;
            string why = Explain(options, status);
            if (IsInvalid) model.DangerousRelease();
            Dispose();
            throw new RnnpackException(status, "session", why);
        }

        internal IntPtr Session { get; }
        internal int StateBytes { get; }

        protected override bool ReleaseHandle()
        {
            base.ReleaseHandle();
            model.DangerousRelease();
            return true;
        }

        private string Explain(Interop.SessionOptions* options, Status status)
        {
            Refusal refusal = default;
            refusal.struct_bytes = (uint)sizeof(Refusal);
            if (Native.rnnp_session_explain(model.Pointer, options, IntPtr.Zero, UIntPtr.Zero, &refusal) != status) return null;
            string node = Utf8.Read(refusal.node_name), op = Utf8.Read(refusal.op);
            return Utf8.Read(refusal.reason) + (op == "" ? "" : " (node '" + node + "', " + op + ")");
        }
    }

    internal static unsafe class Utf8
    {
        internal static string Read(IntPtr text)
        {
            if (text == IntPtr.Zero) return null;
            int bytes = 0;
            while (((byte*)text)[bytes] != 0) ++bytes;
            return Encoding.UTF8.GetString((byte*)text, bytes);
        }
    }
}
