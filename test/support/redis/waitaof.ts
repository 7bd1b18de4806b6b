import { type RespProxy, startRespProxy } from './resp-proxy.ts';

/** A server with `WAITAOF`, whose disk can be slow. */
export interface WaitaofServer extends RespProxy {
  /** How often it was asked. */
  readonly waits: number;
  /** From now on nothing is on disk before `free`. */
  block(): void;
  free(): void;
}

/**
 * Stands for a Redis of 7.2 before an older one: `WAITAOF` blocks its connection until the disk has all, and answers by its documentation
 * with the number of local and of other files, 0 after its time.
 */
export async function startWaitaof(port: number): Promise<WaitaofServer> {
  let disk: PromiseWithResolvers<void> | null = null;
  let waits = 0;
  const proxy = await startRespProxy(port, async (words) => {
    const [name, , , timeoutMs] = words.map(String);
    if (name?.toUpperCase() !== 'WAITAOF') return { words };
    waits += 1;
    const isOnDisk = await Promise.race([
      (disk?.promise ?? Promise.resolve()).then(() => true),
      new Promise((resolve) => setTimeout(resolve, Number(timeoutMs), false)),
    ]);
    return { script: isOnDisk ? 'return {1, 0}' : 'return {0, 0}' };
  });
  return {
    ...proxy,
    get waits() {
      return waits;
    },
    block: () => {
      disk = Promise.withResolvers();
    },
    free: () => {
      disk?.resolve();
      disk = null;
    },
  };
}
