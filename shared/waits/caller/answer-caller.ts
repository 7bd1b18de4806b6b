import { hash } from 'node:crypto';
import { MusterError } from '../../errors/index.ts';
import { answerRuns, type Ledger, type NumberedEntry, readEntry } from '../../ledger/index.ts';
import { redisNow } from '../../redis/index.ts';
import { callerAnswerText, type CallerWait, callerWaitOf } from './caller-wait.ts';

/** What the caller of a request sends for the calls that a run waits for. */
interface SentOutputs {
  tenant: string;
  /** The task. */
  id: string;
  /** Of the entry of its journal at which it waits. */
  seq: number;
  /** What each call gave, by its place, from 0. */
  outputs: ReadonlyMap<number, string>;
  isBackground: boolean;
}

/**
 * - `taken`: the run goes on with them, or did before with the same
 * - `missing`: the first call without an output
 * - `over`: the run goes on with others, or waits no more
 * - `unknown`: no run waited there
 */
type TakenOutputs =
  | { kind: 'taken'; wait: CallerWait }
  | { kind: 'missing'; wait: CallerWait; place: number }
  | { kind: 'over' | 'unknown' };

/** Gives a run what its caller's functions gave: it goes on with the first. Errors: `request.too-large`. */
export async function answerCaller(ledger: Ledger, sent: SentOutputs): Promise<TakenOutputs> {
  const { tenant, id, seq } = sent;
  const entry = await readEntry(ledger, { tenant, id }, seq);
  const wait = callerWaitOf(entry);
  if (!entry || !wait) return { kind: 'unknown' };
  const place = wait.calls.findIndex((_call, at) => !sent.outputs.has(at));
  if (place !== -1) return { kind: 'missing', wait, place };
  const outputs = wait.calls.map((_call, at) => sent.outputs.get(at) ?? '');
  const digest = hash('sha256', JSON.stringify(outputs), 'base64url');
  if (!wait.isOpen) return compare(wait, digest);
  const value = callerAnswerText({ outputs, digest, ...(sent.isBackground && { isBackground: true }) });
  assertSize(value, ledger.settings.openai.maxRequestBytes);
  const isFirst = await resume(ledger, sent, { ...entry, status: 'completed', endedAt: await redisNow(ledger.redis), value });
  return isFirst ? { kind: 'taken', wait } : compare(callerWaitOf(await readEntry(ledger, { tenant, id }, seq)), digest);
}

/** What becomes of outputs for a wait that has ended, or whose run has. */
function compare(wait: CallerWait | null, digest: string): TakenOutputs {
  return wait?.answer?.digest === digest ? { kind: 'taken', wait } : { kind: 'over' };
}

/** Returns false where another request, or the time, was first. */
async function resume(ledger: Ledger, { tenant, id, seq }: SentOutputs, entry: NumberedEntry): Promise<boolean> {
  const [given] = await answerRuns(ledger, tenant, [{ id, entry }]);
  if (given?.kind === 'failed') throw new Error(`The outputs for entry ${seq} of ${id} could not be recorded: ${given.why}`);
  return given?.kind === 'promoted';
}

function assertSize(value: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(value);
  if (bytes <= maxBytes) return;
  throw new MusterError(
    'request.too-large',
    `Outputs of functions have at most ${maxBytes} bytes together (openai.maxRequestBytes), not ${bytes}`,
  );
}
