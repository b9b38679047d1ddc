--  rnnpack-nets.adb -- see rnnpack-nets.ads. SPDX-License-Identifier: Apache-2.0
with Ada.Streams.Stream_IO;
with Ada.Unchecked_Deallocation;
with Interfaces.C.Strings;
with System.Storage_Elements;

package body Rnnpack.Nets is
   use Interfaces;
   use Interfaces.C.Strings;
   use System.Storage_Elements;
   use type Interfaces.C.size_t;
   use type System.Address;
   package Flags_Of_Use renames System.Atomic_Operations.Test_And_Set;

   procedure Free is new Ada.Unchecked_Deallocation (Shared, Shared_Access);
   function Malloc (Size : C.size_t) return System.Address with Import, Convention => C, External_Name => "malloc";
   procedure Free_Block (Block : System.Address) with Import, Convention => C, External_Name => "free";

   protected body Counter is
      procedure Add is
      begin
         Users := Users + 1;
      end Add;
      procedure Remove (Last : out Boolean) is
      begin
         Users := Users - 1;
         Last := Users = 0;
      end Remove;
   end Counter;

   --  Memory at a multiple of an alignment: what frees it, and where it begins.
   procedure Take (Size : C.size_t; Alignment : Positive; Block, Start : out System.Address) is
   begin
      Block := Malloc (Size + C.size_t (Alignment));
      if Block = System.Null_Address then
         raise Storage_Error;
      end if;
      Start := Block + (Storage_Offset (Alignment) - Block mod Storage_Offset (Alignment)) mod Storage_Offset (Alignment);
   end Take;

   procedure Release (Blob : in out Shared_Access) is
      Last : Boolean;
   begin
      if Blob /= null then
         Blob.Users.Remove (Last);
         if Last then
            Free_Block (Blob.Block);
            Free (Blob);
         end if;
         Blob := null;
      end if;
   end Release;

   function Text (Status : rnnp_status) return String is (Value (rnnp_status_string (Status)));

   procedure Check (Status : rnnp_status; Why : String := "") is
   begin
      if -Status in Exceptions'Range then
         Ada.Exceptions.Raise_Exception (Exceptions (-Status), (if Why = "" then Text (Status) else Why));
      end if;
   end Check;

   --  --- Model ------------------------------------------------------------------------------------------------------------

   function Opened (Self : Model'Class) return Shared_Access is
     (if Self.Blob = null then raise Closed_Error with "the model is closed" else Self.Blob);

   procedure Open (Self : in out Model; Blob : Bytes; Check_Weights : Boolean := False) is
      Start : System.Address;
      Status : rnnp_status;
   begin
      Self.Close;
      Self.Blob := new Shared;
      Self.Blob.Users.Add;
      Take (C.size_t (Blob'Length), Positive (RNNP_BLOB_ALIGN), Self.Blob.Block, Start);
      declare
         Copy : Bytes (1 .. Blob'Length) with Import, Address => Start;
      begin
         Copy := Blob;
      end;
      Status := rnnp_model_open (Self.Blob.Raw'Access, Start, C.size_t (Blob'Length), (if Check_Weights then RNNP_OPEN_CHECK_WEIGHTS else 0));
      if Status /= RNNP_OK then
         Self.Close;
         Check (Status);
      end if;
   end Open;

   procedure Open_File (Self : in out Model; Path : String; Check_Weights : Boolean := False) is
      use Ada.Streams;
      File : Stream_IO.File_Type;
   begin
      Stream_IO.Open (File, Stream_IO.In_File, Path);
      declare
         type Content is access Bytes;
         procedure Free is new Ada.Unchecked_Deallocation (Bytes, Content);
         All_Of_It : Content := new Bytes (1 .. Natural (Stream_IO.Size (File)));
         As_Stream : Stream_Element_Array (1 .. All_Of_It'Length) with Import, Address => All_Of_It.all'Address;
         Last : Stream_Element_Offset;
      begin
         Stream_IO.Read (File, As_Stream, Last);
         Stream_IO.Close (File);
         Self.Open (All_Of_It.all, Check_Weights);
         Free (All_Of_It);
      exception
         when others =>
            Free (All_Of_It);
            raise;
      end;
   end Open_File;

   function Info (Self : Model) return rnnp_model_info is
      Facts : aliased rnnp_model_info;
   begin
      Check (rnnp_model_get_info (Opened (Self).Raw'Access, Facts'Access));
      return Facts;
   end Info;

   function Facts_Of (Blob : Shared_Access; Of_Side : Side; Index : Positive) return rnnp_tensor_info is
      Facts : aliased rnnp_tensor_info;
      At_Index : constant Unsigned_32 := Unsigned_32 (Index - 1);
   begin
      Check (if Of_Side = Input then rnnp_model_get_input (Blob.Raw'Access, At_Index, Facts'Access)
             else rnnp_model_get_output (Blob.Raw'Access, At_Index, Facts'Access));
      return Facts;
   end Facts_Of;

   function Tensor (Self : Model; Of_Side : Side; Index : Positive) return rnnp_tensor_info is (Facts_Of (Opened (Self), Of_Side, Index));

   function Meta (Self : Model; Key : String) return String is
      Blob : constant Shared_Access := Opened (Self);
      Name : chars_ptr := New_String (Key);
      Said : constant chars_ptr := rnnp_model_meta (Blob.Raw'Access, Name);
   begin
      Free (Name);
      return (if Said = Null_Ptr then "" else Value (Said));
   end Meta;

   procedure Close (Self : in out Model) is
   begin
      Release (Self.Blob);
   end Close;

   overriding procedure Finalize (Self : in out Model) is
   begin
      Release (Self.Blob);
   end Finalize;

   function Elems (Facts : rnnp_tensor_info; Steps, Batch : Natural) return Natural is
     ((if Facts.role = RNNP_ROLE_SEQUENCE then Steps else 1) * Batch * (if Facts.role = RNNP_ROLE_LENGTHS then 1 else Natural (Facts.row_elems)));

   --  --- Session ----------------------------------------------------------------------------------------------------------

   procedure Make (Self : in out Session; From : Model'Class; Max_Batch : Positive := 1; Max_Steps : Natural := 0;
                   Isa_Allowed : Interfaces.Unsigned_32 := 0)
   is
      Blob : constant Shared_Access := Opened (From);
      Facts : constant rnnp_model_info := From.Info;
      Options : aliased rnnp_session_options;
      Need : aliased rnnp_memory;
      Start : System.Address;
      Status : rnnp_status;
   begin
      Self.Close;
      Options.max_batch := Unsigned_32 (Max_Batch);
      Options.max_steps := Unsigned_32 (Max_Steps);
      Options.isa_allowed := Isa_Allowed;
      Status := rnnp_session_memory (Blob.Raw'Access, Options'Access, Need'Access);
      if Status = RNNP_OK then
         Take (Need.session_bytes, Positive (Need.alignment), Self.Block, Start);
         Status := rnnp_session_init (Self.Handle'Address, Blob.Raw'Access, Options'Access, Start, Need.session_bytes);
      end if;
      if Status /= RNNP_OK then
         Self.Close;
         declare
            Why : aliased rnnp_refusal;
            Same : constant Boolean :=
              rnnp_session_explain (Blob.Raw'Access, Options'Access, System.Null_Address, 0, Why'Access) = Status;
         begin
            Check (Status, (if Same then Value (Why.reason) else ""));
         end;
      end if;
      Blob.Users.Add;
      Self.Blob := Blob;
      Self.Max_Batch := Max_Batch;
      Self.State_Bytes := Need.state_bytes;
      Self.X_Elems := 0;
      for I in 1 .. Natural (Facts.input_count) loop
         declare
            One : constant rnnp_tensor_info := Facts_Of (Blob, Input, I);
         begin
            if Self.X_Elems = 0 and then One.role = RNNP_ROLE_SEQUENCE and then One.dtype = RNNP_DTYPE_F32 then
               Self.X_Elems := Natural (One.row_elems) * Max_Batch;
            end if;
         end;
      end loop;
      if Facts.output_count > 0 then
         declare
            One : constant rnnp_tensor_info := Facts_Of (Blob, Output, 1);
         begin
            Self.Y_Elems := Natural (One.row_elems) * Max_Batch;
            Self.Y_Per_Step := One.role = RNNP_ROLE_SEQUENCE;
         end;
      end if;
   end Make;

   --  Held by one task at a time.
   procedure Enter (Self : in out Session'Class) is
   begin
      if Flags_Of_Use.Atomic_Test_And_Set (Self.Busy) then
         raise In_Use_Error with "another task uses the session";
      elsif Self.Handle = System.Null_Address then
         Flags_Of_Use.Atomic_Clear (Self.Busy);
         raise Closed_Error with "the session is closed";
      end if;
   end Enter;

   procedure Leave (Self : in out Session'Class; Status : rnnp_status) is
      Said : constant chars_ptr := (if Status = RNNP_OK then Null_Ptr else rnnp_session_last_error (Self.Handle));
   begin
      Flags_Of_Use.Atomic_Clear (Self.Busy);
      if Status /= RNNP_OK then
         Check (Status, Value (Said));
      end if;
   end Leave;

   procedure Misfit is
   begin
      Check (RNNP_E_SHAPE);
   end Misfit;

   procedure Step (Self : in out Session; X : Floats; Y : out Floats) is
   begin
      if X'Length /= Self.X_Elems or else Y'Length /= Self.Y_Elems then
         if Self.Handle /= System.Null_Address then
            Misfit;
         end if;
      end if;
      Enter (Self);
      Leave (Self, rnnp_step (Self.Handle, X'Address, Y'Address));
   end Step;

   procedure Run (Self : in out Session; Steps : Natural; X : Floats; Y : out Floats) is
   begin
      Enter (Self);
      if X'Length /= Steps * Self.X_Elems or else Y'Length /= (if Self.Y_Per_Step then Steps else 1) * Self.Y_Elems then
         Flags_Of_Use.Atomic_Clear (Self.Busy);
         Misfit;
      end if;
      Leave (Self, rnnp_run (Self.Handle, C.size_t (Steps), X'Address, Y'Address));
   end Run;

   function View_Of (Data : Floats) return View is (Data'Address, Data'Length, False);
   function View_Of (Data : Integers) return View is (Data'Address, Data'Length, True);

   procedure Run_Any (Self : in out Session; Steps, Batch : Natural; Inputs, Outputs : Views; Flags : Interfaces.Unsigned_32 := 0;
                      Lengths, Rows : View := Nothing)
   is
      type Buffers is array (Positive range <>) of aliased rnnp_const_buffer with Convention => C;
      From : Buffers (1 .. Inputs'Length + 1);
      To : Buffers (1 .. Outputs'Length + 1);  --  rnnp_buffer has the same form
      Io : aliased rnnp_io;
      Facts : aliased rnnp_model_info;

      function Fits (One : View; Of_Side : Side; Index : Positive; Of_Steps : Natural) return Boolean is
         Tensor : constant rnnp_tensor_info := Facts_Of (Self.Blob, Of_Side, Index);
      begin
         return One = Nothing or else (One.Elems = Elems (Tensor, Of_Steps, Batch) and then One.Is_Integer =
           (Tensor.dtype = RNNP_DTYPE_I32 or else Tensor.role = RNNP_ROLE_LENGTHS));
      end Fits;

      Right : Boolean;
   begin
      Enter (Self);
      Right := rnnp_model_get_info (Self.Blob.Raw'Access, Facts'Access) = RNNP_OK and then Inputs'Length = Facts.input_count
        and then Outputs'Length = Facts.output_count and then Batch <= Self.Max_Batch
        and then (Lengths = Nothing or else (Lengths.Elems = Batch and then Lengths.Is_Integer))
        and then (Rows = Nothing or else (Rows.Elems = Batch and then Rows.Is_Integer));
      for I in 1 .. Inputs'Length loop
         exit when not Right;
         From (I).data := Inputs (Inputs'First + I - 1).Data;
         Right := Fits (Inputs (Inputs'First + I - 1), Input, I, Steps);
      end loop;
      for I in 1 .. Outputs'Length loop
         exit when not Right;
         To (I).data := Outputs (Outputs'First + I - 1).Data;
         Right := Fits (Outputs (Outputs'First + I - 1), Output, I, (if (Flags and RNNP_RUN_LAST_STEP) /= 0 then 1 else Steps));
      end loop;
      if not Right then
         Flags_Of_Use.Atomic_Clear (Self.Busy);
         Misfit;
      end if;
      Io.flags := Flags;
      Io.batch := Unsigned_32 (Batch);
      Io.steps := C.size_t (Steps);
      Io.input_count := Inputs'Length;
      Io.output_count := Outputs'Length;
      Io.lengths := Lengths.Data;
      Io.rows := Rows.Data;
      Io.inputs := From'Address;
      Io.outputs := To'Address;
      Leave (Self, rnnp_run_io (Self.Handle, Io'Access));
   end Run_Any;

   function Last_Error (Self : Session) return String is
     (if Self.Handle = System.Null_Address then raise Closed_Error else Value (rnnp_session_last_error (Self.Handle)));

   procedure Reset (Self : in out Session; Row : Interfaces.Unsigned_32 := RNNP_ALL_ROWS) is
      Status : rnnp_status;
   begin
      Enter (Self);
      Status := rnnp_state_reset (Self.Handle, Row);
      Flags_Of_Use.Atomic_Clear (Self.Busy);
      Check (Status);
   end Reset;

   function Save_State (Self : in out Session; Row : Interfaces.Unsigned_32 := 0) return Bytes is
      Status : rnnp_status;
   begin
      Enter (Self);
      return State : Bytes (1 .. Natural (Self.State_Bytes)) do
         Status := rnnp_state_save (Self.Handle, Row, State'Address, Self.State_Bytes);
         Flags_Of_Use.Atomic_Clear (Self.Busy);
         Check (Status);
      end return;
   end Save_State;

   procedure Load_State (Self : in out Session; Row : Interfaces.Unsigned_32; State : Bytes) is
      Status : rnnp_status;
   begin
      Enter (Self);
      Status := rnnp_state_load (Self.Handle, Row, State'Address, C.size_t (State'Length));
      Flags_Of_Use.Atomic_Clear (Self.Busy);
      Check (if State'Length = 0 then RNNP_E_STATE_MISMATCH else Status);
   end Load_State;

   procedure Close (Self : in out Session) is
   begin
      if Flags_Of_Use.Atomic_Test_And_Set (Self.Busy) then
         raise In_Use_Error with "another task uses the session";
      end if;
      Self.Handle := System.Null_Address;
      Free_Block (Self.Block);
      Self.Block := System.Null_Address;
      Release (Self.Blob);
      Flags_Of_Use.Atomic_Clear (Self.Busy);
   end Close;

   overriding procedure Finalize (Self : in out Session) is
   begin
      Free_Block (Self.Block);
      Self.Block := System.Null_Address;
      Release (Self.Blob);
   end Finalize;
end Rnnpack.Nets;
