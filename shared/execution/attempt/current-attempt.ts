import { AsyncLocalStorage } from 'node:async_hooks';
import { Session } from 'node:inspector';
import { within } from '../../time/index.ts';

/** The global under which `findCulprit`, in another thread, reaches `currentAttempt` by the inspector while this thread is blocked. */
const CURRENT_ATTEMPT = 'muster.current-attempt';

const members = new AsyncLocalStorage<string>();
Reflect.set(globalThis, Symbol.for(CURRENT_ATTEMPT), currentAttempt);

/** The lease member of the attempt whose code runs now; null outside agents. */
export function currentAttempt(): string | null {
  return members.getStore() ?? null;
}

/** Runs an agent so that all its code, now or later, belongs to this attempt. */
export function runAsAttempt<T>(member: string, run: () => T): T {
  return members.run(member, run);
}

/** Code that is not JavaScript, such as a synchronous call of the system, cannot be interrupted. */
const ANSWER_MS = 1000;
const EXPRESSION = `globalThis[Symbol.for(${JSON.stringify(CURRENT_ATTEMPT)})]?.() ?? null`;

/**
 * Finds the attempt whose code blocks the main thread: the inspector pauses the thread between two instructions for as long as that
 * takes. Returns the attempt's lease member; null outside agents, or when the thread cannot be paused. For another thread.
 */
export async function findCulprit(): Promise<string | null> {
  const session = new Session();
  session.connectToMainThread();
  const found = Promise.withResolvers<string | null>();
  // Whenever it pauses: it must resume even when no caller waits for the answer any more.
  session.once('Debugger.paused', () => evaluate(session, found.resolve));
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  const answer = await within(found.promise, ANSWER_MS);
  return typeof answer === 'string' ? answer : null;
}

/** In the global scope: the frame that it paused in may be one of Node's own, which cannot see it. */
function evaluate(session: Session, resolve: (member: string | null) => void): void {
  session.post('Runtime.evaluate', { expression: EXPRESSION, returnByValue: true }, (error, answer) => {
    const value: unknown = error ? null : answer.result.value;
    resolve(typeof value === 'string' ? value : null);
    session.post('Debugger.resume', () => session.disconnect());
  });
}
