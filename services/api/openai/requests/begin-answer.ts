import type { Call } from '#shared/http/index.ts';
import { answerCaller } from '#shared/waits/index.ts';
import { callOf, callId, type CallPlace } from '../ids.ts';
import type { AnswerRef } from '../output/follow-answer.ts';
import { type AcceptPorts, acceptRequest, type AskedTask, type Sent } from './accept-request.ts';
import { wrong } from './read-content.ts';

/**
 * Begins the answer to a request: that of a new task, or the next one of a run that waits for what functions of its caller gave, where the request ends
 * with that. Errors: `request.invalid` for some of several outputs; those of `acceptRequest`.
 */
export async function beginAnswer(ports: AcceptPorts, call: Call, asked: AskedTask, sent: Sent): Promise<AnswerRef> {
  const { tenant } = call;
  const continued = await continueRun(ports, tenant, asked);
  if (continued) return { tenant, ...continued };
  assertAsked(asked);
  return { tenant, id: await acceptRequest(ports, call, asked, sent), part: 1 };
}

/** Refuses what no task can be made of. Errors: `request.invalid`. */
export function assertAsked({ input, param, outputs, matchCalls }: AskedTask): void {
  if (input === '') throw wrong(param, outputs.length > 0 ? TOO_LATE : NOBODY);
  matchCalls?.();
}

const NOBODY = 'expected a message of the role "user" that is not empty';
const TOO_LATE = 'no run waits for these outputs any more: send them with the messages before them';

/** Null for a request that ends with no outputs, or with some for which no run waits, as they came too late. */
async function continueRun(
  { ledger }: AcceptPorts,
  tenant: string,
  { outputs, param, isAwaited }: AskedTask,
): Promise<Pick<AnswerRef, 'id' | 'part'> | null> {
  const wait = placeOf(outputs.map(({ callId: id }) => callOf(id)));
  if (!wait) return null;
  const { task: id, seq } = wait;
  const byPlace = new Map(outputs.flatMap(({ callId: named, text }) => [[callOf(named)?.place ?? -1, text] as const]));
  const taken = await answerCaller(ledger, { tenant, id, seq, outputs: byPlace, isBackground: !isAwaited });
  if (taken.kind === 'missing')
    throw wrong(param, `No tool output found for function call ${callId({ task: id, seq, place: taken.place })}`);
  return taken.kind === 'taken' ? { id, part: taken.wait.part + 1 } : null;
}

/** Where the run waits that these calls are of; null for none, or for calls of several. */
function placeOf(calls: readonly (CallPlace | null)[]): CallPlace | null {
  const [first = null] = calls;
  return calls.every((call) => call?.task === first?.task && call?.seq === first?.seq) ? first : null;
}
