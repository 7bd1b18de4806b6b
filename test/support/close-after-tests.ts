import { afterAll } from 'vitest';

/** Closes what a file of tests opened at its top after the last of them; what was opened later is closed earlier. */
export function closeAfterTests<T extends { close(): Promise<unknown> }>(opened: T): T {
  afterAll(async () => {
    await opened.close();
  });
  return opened;
}
