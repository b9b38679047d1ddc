--  rnnpack-nets.ads -- recurrent networks at small batch: a Model and its Sessions, controlled types that free what they own.
--
--     Blob : Model;
--     Net  : Session;
--     X    : Floats (1 .. 80);  Y : Floats (1 .. 2);
--     ...
--     Blob.Open_File ("model.rnnp");      --  what rnnpack compile wrote
--     Net.Make (Blob);
--     Net.Step (X, Y);                    --  in place: slices are not copied either
--
--  A status is an exception of package Rnnpack (Shape_Error). Closed_Error: it is closed. In_Use_Error: another task is in the
--  session. SPDX-License-Identifier: Apache-2.0
with Ada.Finalization;
with Interfaces.C;
with System.Atomic_Operations.Test_And_Set;

package Rnnpack.Nets is
   type Floats is array (Positive range <>) of aliased Interfaces.IEEE_Float_32 with Convention => C;
   type Integers is array (Positive range <>) of aliased Interfaces.Integer_32 with Convention => C;
   type Bytes is array (Positive range <>) of aliased Interfaces.Unsigned_8 with Convention => C;

   Closed_Error, In_Use_Error : exception;

   --  Raises the exception of a status that is none of RNNP_OK.
   procedure Check (Status : rnnp_status; Why : String := "");
   function Text (Status : rnnp_status) return String;

   type Side is (Input, Output);

   type Model is tagged limited private;
   --  The bytes are copied once.
   procedure Open (Self : in out Model; Blob : Bytes; Check_Weights : Boolean := False);
   procedure Open_File (Self : in out Model; Path : String; Check_Weights : Boolean := False);
   function Info (Self : Model) return rnnp_model_info;
   --  Indices begin at 1.
   function Tensor (Self : Model; Of_Side : Side; Index : Positive) return rnnp_tensor_info;
   function Meta (Self : Model; Key : String) return String;
   --  Sessions that are open go on.
   procedure Close (Self : in out Model);

   --  Elements of a tensor in a run.
   function Elems (Facts : rnnp_tensor_info; Steps, Batch : Natural) return Natural;

   type Session is tagged limited private;
   procedure Make (Self : in out Session; From : Model'Class; Max_Batch : Positive := 1; Max_Steps : Natural := 0;
                   Isa_Allowed : Interfaces.Unsigned_32 := 0);
   --  One step of all rows: the first sequence in, the first output out.
   procedure Step (Self : in out Session; X : Floats; Y : out Floats);
   --  Steps of all rows, [Steps][Max_Batch][row_elems].
   procedure Run (Self : in out Session; Steps : Natural; X : Floats; Y : out Floats);

   --  What a tensor of Run_Any is, as long as that variable lives. Nothing: an optional input, or an output that is not wanted.
   type View is private;
   Nothing : constant View;
   function View_Of (Data : Floats) return View;
   function View_Of (Data : Integers) return View;
   type Views is array (Positive range <>) of View;
   procedure Run_Any (Self : in out Session; Steps, Batch : Natural; Inputs, Outputs : Views; Flags : Interfaces.Unsigned_32 := 0;
                      Lengths, Rows : View := Nothing);

   --  Why the last run failed; "" after a success.
   function Last_Error (Self : Session) return String;
   procedure Reset (Self : in out Session; Row : Interfaces.Unsigned_32 := RNNP_ALL_ROWS);
   --  Bytes that a session of the same model loads in any language.
   function Save_State (Self : in out Session; Row : Interfaces.Unsigned_32 := 0) return Bytes;
   procedure Load_State (Self : in out Session; Row : Interfaces.Unsigned_32; State : Bytes);
   procedure Close (Self : in out Session);

private
   --  A blob, opened in place; it belongs to its model and to all sessions on it, and the last one frees it.
   protected type Counter is
      procedure Add;
      procedure Remove (Last : out Boolean);
   private
      Users : Natural := 0;
   end Counter;
   type Shared is limited record
      Users : Counter;
      Block : System.Address := System.Null_Address;
      Raw : aliased rnnp_model;
   end record;
   type Shared_Access is access Shared;

   type Model is new Ada.Finalization.Limited_Controlled with record
      Blob : Shared_Access;
   end record;
   overriding procedure Finalize (Self : in out Model);

   type Session is new Ada.Finalization.Limited_Controlled with record
      Blob : Shared_Access;
      Block, Handle : System.Address := System.Null_Address;
      Max_Batch, X_Elems, Y_Elems : Natural := 0;
      Y_Per_Step : Boolean := True;
      State_Bytes : Interfaces.C.size_t := 0;
      Busy : aliased System.Atomic_Operations.Test_And_Set.Test_And_Set_Flag;
   end record;
   overriding procedure Finalize (Self : in out Session);

   type View is record
      Data : System.Address := System.Null_Address;
      Elems : Natural := 0;
      Is_Integer : Boolean := False;
   end record;
   Nothing : constant View := (System.Null_Address, 0, False);
end Rnnpack.Nets;
