// RnnpackException.cs -- a status other than Ok. SPDX-License-Identifier: Apache-2.0
using System;
using Rnnpack.Interop;

namespace Rnnpack
{
    /// <summary>A call of the library failed. <c>catch (RnnpackException e) when (e.Status == Status.Shape)</c> picks one.</summary>
    public sealed class RnnpackException : Exception
    {
        public RnnpackException(Status status, string doing = null, string why = null) : base(Text(status, doing, why))
        {
            Status = status;
        }

        public Status Status { get; }

        /// <summary>The library's line of English for a status.</summary>
        public static string Describe(Status status) => Utf8.Read(Native.rnnp_status_string(status));

        internal static void Check(Status status, string doing)
        {
            if (status != Status.Ok) throw new RnnpackException(status, doing);
        }

        private static string Text(Status status, string doing, string why)
        {
            string reason = string.IsNullOrEmpty(why) ? Describe(status) : why;
            return doing == null ? reason : doing + ": " + reason;
        }
    }
}
