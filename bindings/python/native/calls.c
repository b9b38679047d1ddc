/* calls.c -- rnnpack._native._calls: calls of the library on arrays whose layout was seen before. Python prepares a call once for
 * each layout (shapes, strides, types) and hands it over (remember); the next call on arrays of that layout is made here, without
 * anything else of the interpreter (call). Contract: rnnpack/_calls.py, which does the same by ctypes where this module is missing.
 * SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "rnnpack/rnnpack.h"

enum { kMaxRank = 9, kPlans = 8, kBusy = -1000, kForked = -1001 };

typedef struct { /* an array, and what of it the library is told */
  Py_ssize_t shape[kMaxRank], strides[kMaxRank];
  int ndim, given;
  char type;
  size_t step_bytes, row_bytes;
} place;

typedef struct {
  PyObject *kind;    /* NULL: an empty plan */
  PyObject **shapes; /* of new outputs; NULL: the caller gives them */
  place *places;     /* inputs, then outputs */
  int steps_alone;   /* rnnp_step will do */
  size_t steps;
  uint32_t batch, flags;
} plan;

typedef struct {
  PyObject_HEAD rnnp_session *session;
  rnnp_status (*step)(rnnp_session *, const void *, void *);
  rnnp_status (*run_io)(rnnp_session *, const rnnp_io *);
  PyObject *inputs, *outputs; /* names */
  PyObject *empty, *dtype, *array_type, *fail;
  Py_ssize_t input_count, output_count, needed; /* needed: the only input that a call has to have, or -1 */
  long owner;                                   /* process, or 0 */
  int busy;
  Py_ssize_t next;
  Py_buffer *views; /* inputs, then outputs; obj is NULL where there is none */
  rnnp_buffer *buffers;
  PyObject **results;
  plan plans[kPlans];
} calls;

static void forget(calls *self, plan *p) {
  const Py_ssize_t outputs = p->shapes == NULL ? 0 : self->output_count;
  for (Py_ssize_t i = 0; i < outputs; ++i) Py_XDECREF(p->shapes[i]);
  Py_XDECREF(p->kind);
  PyMem_Free(p->shapes);
  PyMem_Free(p->places);
  memset(p, 0, sizeof *p);
}

static void release_views(calls *self) {
  for (Py_ssize_t i = 0; i < self->input_count + self->output_count; ++i) {
    if (self->views[i].obj != NULL) PyBuffer_Release(&self->views[i]);
  }
}

/* 1, and the view is to be released; 0 where the object is no plain array of f32 or i32, without an exception. */
static int view_of(PyObject *object, int flags, Py_buffer *view) {
  if (!PyObject_CheckBuffer(object)) return 0;
  if (PyObject_GetBuffer(object, view, flags | PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    view->obj = NULL;
    return 0;
  }
  const char *format = view->format;
  if (format != NULL && (format[0] == 'f' || format[0] == 'i') && format[1] == 0 && view->itemsize == 4 && view->ndim <= kMaxRank &&
      (uintptr_t)view->buf % 4 == 0)
    return 1;
  PyBuffer_Release(view);
  return 0;
}

static int matches(const place *p, const Py_buffer *view) {
  if (p->given != (view->obj != NULL)) return 0;
  if (!p->given) return 1;
  const size_t bytes = (size_t)view->ndim * sizeof *view->shape;
  return p->type == view->format[0] && p->ndim == view->ndim && memcmp(p->shape, view->shape, bytes) == 0 &&
         memcmp(p->strides, view->strides, bytes) == 0;
}

/* Views of the inputs in `x`: 0 where there is one that only Python can read. */
static int view_inputs(calls *self, PyObject *x) {
  if (!PyDict_CheckExact(x)) return self->needed >= 0 && view_of(x, 0, &self->views[self->needed]);
  Py_ssize_t found = 0;
  for (Py_ssize_t i = 0; i < self->input_count; ++i) {
    PyObject *value = PyDict_GetItemWithError(x, PyTuple_GetItem(self->inputs, i));
    if (value == NULL) continue;
    if (!view_of(value, 0, &self->views[i])) return 0;
    ++found;
  }
  return found == PyDict_Size(x);
}

/* The outputs that the caller brought, in self->results: borrowed. */
static int view_outputs(calls *self, PyObject *out) {
  const int named = PyDict_CheckExact(out);
  if (named ? PyDict_Size(out) != self->output_count : self->output_count != 1) return 0;
  for (Py_ssize_t i = 0; i < self->output_count; ++i) {
    PyObject *one = named ? PyDict_GetItemWithError(out, PyTuple_GetItem(self->outputs, i)) : out;
    if (one == NULL || (PyObject *)Py_TYPE(one) != self->array_type ||
        !view_of(one, PyBUF_WRITABLE, &self->views[self->input_count + i]))
      return 0;
    self->results[i] = one;
  }
  return 1;
}

static const plan *plan_for(const calls *self, PyObject *kind, int fresh) {
  const Py_ssize_t seen = self->input_count + (fresh ? 0 : self->output_count);
  for (int at = 0; at < kPlans; ++at) {
    const plan *p = &self->plans[at];
    if (p->kind != kind || (p->shapes != NULL) != fresh) continue;
    Py_ssize_t i = 0;
    while (i < seen && matches(&p->places[i], &self->views[i])) ++i;
    if (i == seen) return p;
  }
  return NULL;
}

/* New outputs in self->results, owned; 0 with an exception, and none is left. */
static int make_outputs(calls *self, const plan *p) {
  for (Py_ssize_t i = 0; i < self->output_count; ++i) {
    PyObject *one = PyObject_CallFunctionObjArgs(self->empty, p->shapes[i], self->dtype, NULL);
    if (one != NULL && PyObject_GetBuffer(one, &self->views[self->input_count + i], PyBUF_WRITABLE) == 0) {
      self->results[i] = one;
      continue;
    }
    Py_XDECREF(one);
    while (i-- > 0) Py_CLEAR(self->results[i]);
    return 0;
  }
  return 1;
}

static rnnp_status call_library(calls *self, const plan *p) {
  const Py_ssize_t inputs = self->input_count, count = inputs + self->output_count;
  for (Py_ssize_t i = 0; i < count; ++i) {
    void *data = self->views[i].obj != NULL ? self->views[i].buf : NULL;
    const rnnp_buffer one = {data, p->places[i].step_bytes, p->places[i].row_bytes};
    self->buffers[i] = one;
  }
  rnnp_status status;
  PyThreadState *thread = PyEval_SaveThread();
  if (p->steps_alone) {
    status = self->step(self->session, self->buffers[self->needed].data, self->buffers[inputs].data);
  } else {
    rnnp_io io = RNNP_IO_INIT;
    io.flags = p->flags;
    io.batch = p->batch;
    io.steps = p->steps;
    io.input_count = (uint32_t)inputs;
    io.output_count = (uint32_t)self->output_count;
    io.inputs = (const rnnp_const_buffer *)(const void *)self->buffers; /* structs of one layout */
    io.outputs = self->buffers + inputs;
    status = self->run_io(self->session, &io);
  }
  PyEval_RestoreThread(thread);
  return status;
}

static PyObject *failed(calls *self, long status, size_t steps) {
  PyObject *nothing = PyObject_CallFunction(self->fail, "lnN", status, (Py_ssize_t)steps, PyLong_FromVoidPtr(self->session));
  Py_XDECREF(nothing);
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "a call that failed raised nothing");
  return NULL;
}

/* What the call returns: the only output, or all by name. Takes over new ones. */
static PyObject *result_of(calls *self, int fresh) {
  if (!fresh) {
    for (Py_ssize_t i = 0; i < self->output_count; ++i) Py_INCREF(self->results[i]);
  }
  if (self->output_count == 1) return self->results[0];
  PyObject *named = PyDict_New();
  for (Py_ssize_t i = 0; i < self->output_count; ++i) {
    if (named != NULL && PyDict_SetItem(named, PyTuple_GetItem(self->outputs, i), self->results[i]) != 0) Py_CLEAR(named);
    Py_DECREF(self->results[i]);
  }
  return named;
}

static PyObject *run_plan(calls *self, PyObject *kind, PyObject *x, PyObject *out) {
  const int fresh = out == Py_None;
  const plan *p = view_inputs(self, x) && (fresh || view_outputs(self, out)) ? plan_for(self, kind, fresh) : NULL;
  if (p == NULL) {
    PyErr_Clear(); /* of a comparison of names; Python's own way meets it again */
    Py_RETURN_NONE;
  }
  if (fresh && !make_outputs(self, p)) return NULL;
  const rnnp_status status = call_library(self, p);
  if (status != RNNP_OK) {
    for (Py_ssize_t i = 0; fresh && i < self->output_count; ++i) Py_CLEAR(self->results[i]);
    return failed(self, status, p->steps);
  }
  return result_of(self, fresh);
}

static PyObject *calls_call(PyObject *object, PyObject *const *arguments, Py_ssize_t count) {
  calls *self = (calls *)object;
  if (count != 3) return PyErr_Format(PyExc_TypeError, "call takes kind, x, out");
  if (self->busy) return failed(self, kBusy, 0);
  if (self->owner != 0 && self->owner != (long)getpid()) return failed(self, kForked, 0);
  self->busy = 1;
  PyObject *result = run_plan(self, arguments[0], arguments[1], arguments[2]);
  release_views(self);
  self->busy = 0;
  return result;
}

/* One entry (array, step_bytes, row_bytes) or None of `remember`. */
static int read_place(PyObject *entry, place *to) {
  PyObject *array;
  Py_ssize_t step, row;
  Py_buffer view;
  if (entry == Py_None) return 1;
  if (!PyArg_ParseTuple(entry, "Onn", &array, &step, &row) || !view_of(array, 0, &view)) return 0;
  to->given = 1;
  to->type = view.format[0];
  to->ndim = view.ndim;
  memcpy(to->shape, view.shape, (size_t)view.ndim * sizeof *view.shape);
  memcpy(to->strides, view.strides, (size_t)view.ndim * sizeof *view.strides);
  to->step_bytes = (size_t)step;
  to->row_bytes = (size_t)row;
  PyBuffer_Release(&view);
  return 1;
}

static PyObject *shape_of(const place *p) {
  PyObject *shape = PyTuple_New(p->ndim);
  for (int i = 0; shape != NULL && i < p->ndim; ++i) {
    PyObject *size = PyLong_FromSsize_t(p->shape[i]);
    if (size == NULL || PyTuple_SetItem(shape, i, size) != 0) Py_CLEAR(shape);
  }
  return shape;
}

static int fill_plan(calls *self, plan *p, PyObject *inputs, PyObject *outputs, int fresh) {
  const Py_ssize_t count = self->input_count + self->output_count;
  if (PyTuple_Size(inputs) != self->input_count || PyTuple_Size(outputs) != self->output_count) return 0;
  p->places = PyMem_Calloc((size_t)count, sizeof *p->places);
  if (fresh) p->shapes = PyMem_Calloc((size_t)self->output_count, sizeof *p->shapes);
  if (p->places == NULL || (fresh && p->shapes == NULL)) return 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Py_ssize_t output = i - self->input_count;
    PyObject *entry = output < 0 ? PyTuple_GetItem(inputs, i) : PyTuple_GetItem(outputs, output);
    if (!read_place(entry, &p->places[i])) return 0;
    if (output >= 0 && fresh && (p->shapes[output] = shape_of(&p->places[i])) == NULL) return 0;
  }
  return 1;
}

static PyObject *calls_remember(PyObject *object, PyObject *arguments) {
  calls *self = (calls *)object;
  plan *p = &self->plans[self->next], read;
  PyObject *kind, *inputs, *outputs;
  int fresh;
  Py_ssize_t steps;
  memset(&read, 0, sizeof read);
  if (!PyArg_ParseTuple(arguments, "OpO!O!npII", &kind, &fresh, &PyTuple_Type, &inputs, &PyTuple_Type, &outputs, &steps,
                        &read.steps_alone, &read.batch, &read.flags))
    return NULL;
  if (self->busy) Py_RETURN_NONE; /* another thread's call may be reading the plans */
  read.steps = (size_t)steps;
  if (!fill_plan(self, &read, inputs, outputs, fresh)) {
    forget(self, &read);
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  Py_INCREF(kind);
  read.kind = kind;
  forget(self, p);
  *p = read;
  self->next = (self->next + 1) % kPlans;
  Py_RETURN_NONE;
}

static PyObject *calls_opened(PyObject *object, PyObject *handle) {
  calls *self = (calls *)object;
  self->session = PyLong_AsVoidPtr(handle);
  if (PyErr_Occurred()) return NULL;
  for (int at = 0; at < kPlans; ++at) forget(self, &self->plans[at]);
  Py_RETURN_NONE;
}

static PyObject *calls_acquire(PyObject *object, PyObject *unused) {
  calls *self = (calls *)object;
  (void)unused;
  if (self->busy) return failed(self, kBusy, 0);
  if (self->owner != 0 && self->owner != (long)getpid()) return failed(self, kForked, 0);
  self->busy = 1;
  Py_RETURN_NONE;
}

static PyObject *calls_release(PyObject *object, PyObject *unused) {
  (void)unused;
  ((calls *)object)->busy = 0;
  Py_RETURN_NONE;
}

static PyObject *calls_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  PyObject *step, *run_io, *made;
  (void)keywords;
  PyObject *(*allocate)(PyTypeObject *, Py_ssize_t) =
      (PyObject * (*)(PyTypeObject *, Py_ssize_t)) PyType_GetSlot(type, Py_tp_alloc);
  if ((made = allocate(type, 0)) == NULL) return NULL;
  calls *self = (calls *)made;
  if (!PyArg_ParseTuple(arguments, "OOO!O!nlOOOO", &step, &run_io, &PyTuple_Type, &self->inputs, &PyTuple_Type, &self->outputs,
                        &self->needed, &self->owner, &self->empty, &self->dtype, &self->array_type, &self->fail)) {
    self->inputs = self->outputs = self->empty = self->dtype = self->array_type = self->fail = NULL;
    Py_DECREF(made);
    return NULL;
  }
  PyObject *kept[] = {self->inputs, self->outputs, self->empty, self->dtype, self->array_type, self->fail};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) Py_INCREF(kept[i]);
  void *functions[] = {PyLong_AsVoidPtr(step), PyLong_AsVoidPtr(run_io)};
  memcpy(&self->step, &functions[0], sizeof self->step);
  memcpy(&self->run_io, &functions[1], sizeof self->run_io);
  self->input_count = PyTuple_Size(self->inputs);
  self->output_count = PyTuple_Size(self->outputs);
  const size_t count = (size_t)(self->input_count + self->output_count);
  self->views = PyMem_Calloc(count, sizeof *self->views);
  self->buffers = PyMem_Calloc(count, sizeof *self->buffers);
  self->results = PyMem_Calloc(count, sizeof *self->results);
  if (self->views != NULL && self->buffers != NULL && self->results != NULL && !PyErr_Occurred()) return made;
  Py_DECREF(made);
  return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

static void calls_dealloc(PyObject *object) {
  calls *self = (calls *)object;
  PyTypeObject *type = Py_TYPE(object);
  void (*release)(void *) = (void (*)(void *))PyType_GetSlot(type, Py_tp_free);
  for (int at = 0; at < kPlans; ++at) forget(self, &self->plans[at]);
  PyObject *kept[] = {self->inputs, self->outputs, self->empty, self->dtype, self->array_type, self->fail};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) Py_XDECREF(kept[i]);
  PyMem_Free(self->views);
  PyMem_Free(self->buffers);
  PyMem_Free(self->results);
  release(object);
  Py_DECREF(type);
}

static PyMethodDef kMethods[] = {{"call", (PyCFunction)(void (*)(void))calls_call, METH_FASTCALL, NULL},
                                 {"remember", calls_remember, METH_VARARGS, NULL},
                                 {"opened", calls_opened, METH_O, NULL},
                                 {"acquire", calls_acquire, METH_NOARGS, NULL},
                                 {"release", calls_release, METH_NOARGS, NULL},
                                 {NULL, NULL, 0, NULL}};
static PyType_Slot kSlots[] = {{Py_tp_new, calls_new}, {Py_tp_dealloc, calls_dealloc}, {Py_tp_methods, kMethods}, {0, NULL}};
static PyType_Spec kSpec = {"rnnpack._native._calls.Calls", sizeof(calls), 0, Py_TPFLAGS_DEFAULT, kSlots};
static struct PyModuleDef kModule = {PyModuleDef_HEAD_INIT, "_calls", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__calls(void) {
  PyObject *module = PyModule_Create(&kModule), *type = PyType_FromSpec(&kSpec);
  if (module != NULL && type != NULL && PyModule_AddObject(module, "Calls", type) == 0) return module;
  Py_XDECREF(module);
  Py_XDECREF(type);
  return NULL;
}
