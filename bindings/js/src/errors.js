// errors.js -- what this package throws. SPDX-License-Identifier: Apache-2.0
import { Status } from './abi.js';

const NAMES = new Map(Object.entries(Status).map(([name, status]) => [status, `RNNP_${name}`]));

// A status other than RNNP_OK. `code` is its name ('RNNP_E_SHAPE'), `status` its number.
export class RnnpackError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
    this.code = NAMES.get(status) ?? `status ${status}`;
  }
}
Object.defineProperty(RnnpackError.prototype, 'name', { value: 'RnnpackError' });

// A model or session was used after close(), or a view after the memory grew.
export class StaleError extends Error {}
Object.defineProperty(StaleError.prototype, 'name', { value: 'StaleError' });

// { RNNP_E_ARG: class extends RnnpackError, ... }: for `catch` clauses that ask by instanceof.
export const errors = Object.freeze(Object.fromEntries([...NAMES].filter(([status]) => status !== 0).map(([status, name]) => [
  name, { [name]: class extends RnnpackError { constructor(message) { super(status, message); } } }[name]])));

export function errorOf(status, message) {
  const Kind = errors[NAMES.get(status)];
  return Kind === undefined ? new RnnpackError(status, message) : new Kind(message);
}
