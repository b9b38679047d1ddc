// types.ts -- the package's types as a user's program sees them; compiled by tsc --noEmit, never run. SPDX-License-Identifier: Apache-2.0
import { errors, load, Model, Rnnpack, RnnpackError, Session, SessionOptions } from '../src/rnnpack';

async function use(bytes: ArrayBuffer): Promise<number> {
  const rnnpack: Rnnpack = Rnnpack.hasSimd() ? await load() : Rnnpack.loadSync(bytes);
  const model: Model = rnnpack.open(new Uint8Array(bytes), { checkWeights: true });
  const options: SessionOptions = { maxBatch: 2, maxSteps: 4, isa: 'reference' };
  const session: Session = model.session(options);
  session.input('x').fill(1);
  session.run(2, { rows: [1], lengths: Int32Array.of(2), lastStep: true });
  session.loadState(session.saveState(0), 1);
  try {
    session.step();
  } catch (error) {
    if (error instanceof errors.RNNP_E_SHAPE && (error as RnnpackError).code === 'RNNP_E_SHAPE') return -1;
  }
  // @ts-expect-error: there is no such instruction set
  model.session({ isa: 'mmx' });
  return session.output(0)[0] ?? 0;
}
void use;
