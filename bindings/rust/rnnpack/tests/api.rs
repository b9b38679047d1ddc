// SPDX-License-Identifier: Apache-2.0
//! What the common suite does not ask: alignment, memory of the caller's, descriptions.
use rnnpack::{include_model, Blob, Dim, Error, Input, Memory, Model, Options, Output, Role, Run, Session};

fn bytes() -> &'static [u8] {
    include_model!("lstm.rnnp")
}

#[test]
fn a_misaligned_blob_is_refused() {
    let mut moved = vec![0u8; bytes().len() + 128];
    let at = (0..64).find(|at| (moved.as_ptr() as usize + at) % 64 == 4).unwrap();
    moved[at..at + bytes().len()].copy_from_slice(bytes());
    assert_eq!(Model::open(&moved[at..]).err(), Some(Error::Align));
    assert!(Model::open(&Blob::new(bytes())).is_ok());
}

#[test]
fn memory_of_the_callers() {
    let model = Model::open(bytes()).unwrap();
    let mut memory = Memory::<65536>::new();
    let need = model.session_bytes(&Options::new()).unwrap();
    let refused = Session::in_memory(&model, &Options::new(), &mut memory.bytes()[..need - 1]);
    assert_eq!(refused.err(), Some(Error::SmallMemory));
    let refused = Session::in_memory(&model, &Options::new(), &mut memory.bytes()[1..]);
    assert_eq!(refused.err(), Some(Error::Align));
    let (mut y, mut other) = ([0f32; 16], [0f32; 16]);
    Session::in_memory(&model, &Options::new(), memory.bytes()).unwrap().step(&[0.5; 8], &mut y).unwrap();
    Session::new(&model, &Options::new()).unwrap().step(&[0.5; 8], &mut other).unwrap();
    assert_eq!(y, other);
}

#[test]
fn a_model_describes_itself() {
    let model = Model::open_unread(bytes()).unwrap();
    let (x, y) = (model.input(0).unwrap(), model.output(0).unwrap());
    assert_eq!((x.name, x.role, x.row_elems), ("x", Role::Sequence, 8));
    assert_eq!(y.dims().collect::<Vec<_>>(), [Dim::Steps, Dim::Constant(1), Dim::Batch, Dim::Constant(16)]);
    assert_eq!((model.inputs().count(), model.outputs().count()), (1, 1));
    assert_eq!(model.input(1).err(), Some(Error::Arg));
    assert_eq!((model.meta("name"), model.meta("nobody")), (Some("lstm_f32_avx512"), None));
    assert_eq!(model.info().causal, 1);
}

#[test]
fn a_session_of_another_thread() {
    let model = Model::open(bytes()).unwrap();
    let mut session = Session::new(&model, &Options::new().max_batch(2)).unwrap();
    let session = std::thread::spawn(move || session.run(3, &[0.5; 48], &mut [0.0; 96]).map(|()| session)).join().unwrap();
    assert_eq!(session.unwrap().max_batch(), 2);
}

#[test]
fn rows_lengths_and_absent_outputs() {
    let model = Model::open(bytes()).unwrap();
    let mut session = Session::new(&model, &Options::new().max_batch(3)).unwrap();
    let (x, mut y) = ([0.5f32; 32], [9f32; 64]);
    let run = Run { steps: 2, batch: 2, lengths: Some(&[1, 2]), rows: Some(&[2, 0]), ..Run::default() };
    session.run_io(&run, &[Input::F32(&x)], &mut [Output::F32(&mut y)]).unwrap();
    assert!(y[32..48].iter().all(|one| *one == 0.0) && y[48..].iter().all(|one| *one != 0.0), "past its length a row is 0");
    assert_eq!(session.run_io(&run, &[Input::F32(&x)], &mut [Output::Absent]), Ok(()));
    assert_eq!(session.run_io(&run, &[Input::F32(&x[1..])], &mut [Output::Absent]), Err(Error::Shape));
    assert_eq!(session.run_io(&Run { lengths: Some(&[1]), ..run }, &[Input::F32(&x)], &mut [Output::Absent]), Err(Error::Shape));
    assert_eq!(session.run_io(&run, &[Input::F32(&x)], &mut []), Err(Error::Shape));
    assert_eq!(session.run_io(&run, &[Input::I32(&[0; 32])], &mut [Output::Absent]), Err(Error::Shape));
}
