import { Session } from 'node:inspector';
import { within } from '#shared/time/index.ts';
import { CURRENT_ATTEMPT } from './current-attempt.ts';

/** Code that is not JavaScript, such as a synchronous call of the system, cannot be interrupted. */
const ANSWER_MS = 1000;
const EXPRESSION = `globalThis[Symbol.for(${JSON.stringify(CURRENT_ATTEMPT)})]?.() ?? null`;

/**
 * Asks the main thread, while it is stuck in JavaScript, whose code it runs: the inspector stops it between two instructions for as long
 * as that takes. Returns the attempt's lease member; null when that is none, or when the main thread cannot be stopped.
 */
export async function findCulprit(): Promise<string | null> {
  const session = new Session();
  session.connectToMainThread();
  const found = Promise.withResolvers<string | null>();
  // Whenever it stops: it must go on, also when nobody waits for the answer any more.
  session.once('Debugger.paused', () => evaluate(session, found.resolve));
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  const answer = await within(found.promise, ANSWER_MS);
  return typeof answer === 'string' ? answer : null;
}

/** In the global scope: the frame that it stopped in may be one of Node's own, which sees nothing of it. */
function evaluate(session: Session, resolve: (member: string | null) => void): void {
  session.post('Runtime.evaluate', { expression: EXPRESSION, returnByValue: true }, (error, answer) => {
    const value: unknown = error ? null : answer.result.value;
    resolve(typeof value === 'string' ? value : null);
    session.post('Debugger.resume', () => session.disconnect());
  });
}
