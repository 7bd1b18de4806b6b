import { AsyncLocalStorage } from 'node:async_hooks';
import { Session } from 'node:inspector';

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

const EXPRESSION = `globalThis[Symbol.for(${JSON.stringify(CURRENT_ATTEMPT)})]?.() ?? null`;

/**
 * Finds the attempt whose code blocks the main thread: the inspector pauses the thread between two instructions for as long as that
 * takes. Resolves to the attempt's lease member, or to null outside agents. A synchronous call of the system is JavaScript again only
 * after it returns, so the answer may come late, and never when the process ends before. For another thread.
 */
export async function findCulprit(): Promise<string | null> {
  const session = new Session();
  session.connectToMainThread();
  const found = Promise.withResolvers<string | null>();
  session.once('Debugger.paused', () => evaluate(session, found.resolve));
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  return await found.promise;
}

/** In the global scope: the frame that it paused in may be one of Node's own, which cannot see it. */
function evaluate(session: Session, resolve: (member: string | null) => void): void {
  session.post('Runtime.evaluate', { expression: EXPRESSION, returnByValue: true }, (error, answer) => {
    const value: unknown = error ? null : answer.result.value;
    resolve(typeof value === 'string' ? value : null);
    session.post('Debugger.resume', () => session.disconnect());
  });
}
