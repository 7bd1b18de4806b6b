/**
 * Settles like the promise, or rejects with the signal's reason as soon as it aborts.
 * The work behind the promise is not stopped by this: hand it the same signal too.
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  // Whichever loses the race may still reject later; nobody is left to hear it then.
  promise.catch(() => undefined);
  aborted.promise.catch(() => undefined);
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
