// Model.cs -- an opened blob: what it takes and gives, and its sessions. SPDX-License-Identifier: Apache-2.0
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Rnnpack.Interop;

namespace Rnnpack
{
    public enum Role
    {
        /// <summary>[steps][batch][RowElems]</summary>
        Sequence = (int)Constants.RoleSequence,
        /// <summary>[batch][RowElems], once per run</summary>
        PerRun = (int)Constants.RolePerRun,
        /// <summary>Input only, optional: [batch][RowElems]</summary>
        State = (int)Constants.RoleState,
        /// <summary>Input only, optional: int [batch]</summary>
        Lengths = (int)Constants.RoleLengths,
    }

    /// <summary>What a model takes or gives.</summary>
    public sealed class Tensor
    {
        public string Name { get; internal set; }
        public Role Role { get; internal set; }
        public int RowElems { get; internal set; }
        /// <summary>The ONNX axes; Constants.DimSteps and Constants.DimBatch stand for the open ones.</summary>
        public IReadOnlyList<int> Dims { get; internal set; }
        public bool IsInt32 { get; internal set; }
        /// <summary>Of int sequences: indices from -Limit to Limit - 1; else 0.</summary>
        public int Limit { get; internal set; }
        public bool Optional => Role == Role.State || Role == Role.Lengths;
    }

    /// <summary>A blob, checked and opened. Immutable: sessions of several threads may share it.</summary>
    public sealed unsafe class Model : IDisposable
    {
        private readonly ModelHandle handle;
        private bool closed;

        /// <summary>The bytes that <c>rnnpack compile</c> wrote; copied once.</summary>
        public Model(ReadOnlySpan<byte> blob, bool checkWeights = false)
        {
            handle = new ModelHandle(blob, checkWeights);
            Interop.ModelInfo info = default;
            info.struct_bytes = (uint)sizeof(Interop.ModelInfo);
            RnnpackException.Check(Native.rnnp_model_get_info(handle.Pointer, &info), "model info");
            IsCausal = info.causal != 0;
            FixedBatch = (int)info.fixed_batch;
            WeightBytes = (long)info.weight_bytes;
            ModelId = info.model_id;
            Inputs = Tensors(info.input_count, true);
            Outputs = Tensors(info.output_count, false);
        }

        public static Model FromFile(string path, bool checkWeights = false) => new Model(File.ReadAllBytes(path), checkWeights);

        public IReadOnlyList<Tensor> Inputs { get; }
        public IReadOnlyList<Tensor> Outputs { get; }
        /// <summary>Runs in pieces of any length, step by step too.</summary>
        public bool IsCausal { get; }
        /// <summary>0, or the only batch that the model was exported for.</summary>
        public int FixedBatch { get; }
        public long WeightBytes { get; }
        public ulong ModelId { get; }

        /// <summary>The text that the blob has for a key, or null.</summary>
        public string Meta(string key)
        {
            fixed (byte* text = Encoding.UTF8.GetBytes(key + "\0"))
            {
                string value = Utf8.Read(Native.rnnp_model_meta(Open().Pointer, (IntPtr)text));
                GC.KeepAlive(this);
                return value;
            }
        }

        /// <summary>Sessions that are open keep the blob until they are disposed, too.</summary>
        public void Dispose()
        {
            closed = true;
            handle.Dispose();
        }

        internal ModelHandle Open()
        {
            if (closed) throw new ObjectDisposedException(nameof(Model));
            return handle;
        }

        private Tensor[] Tensors(uint count, bool inputs)
        {
            var tensors = new Tensor[count];
            for (uint i = 0; i < count; ++i)
            {
                TensorInfo info = default;
                info.struct_bytes = (uint)sizeof(TensorInfo);
                RnnpackException.Check(inputs ? Native.rnnp_model_get_input(handle.Pointer, i, &info) : Native.rnnp_model_get_output(handle.Pointer, i, &info), "tensor");
                var dims = new int[info.rank];
                for (int k = 0; k < dims.Length; ++k) dims[k] = info.dims[k];
                tensors[i] = new Tensor
                {
                    Name = Utf8.Read(info.name), Role = (Role)info.role, RowElems = (int)info.row_elems, Dims = dims,
                    IsInt32 = info.dtype == Constants.DtypeI32 || info.role == Constants.RoleLengths, Limit = (int)info.limit,
                };
            }
            return tensors;
        }
    }
}
