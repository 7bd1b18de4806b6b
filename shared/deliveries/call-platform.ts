import { LATE, within } from '../time/wait.ts';
import { DeliveryRefused } from './chat-port.ts';

/** What a call to a platform answers. Throws `DeliveryRefused` only: `unknown` after `timeoutMs`, `transient` for what has no kind. */
export async function callPlatform<T>(call: () => Promise<T>, timeoutMs: number): Promise<T> {
  const answer = await within(call(), timeoutMs).catch((error: unknown) => {
    throw error instanceof DeliveryRefused ? error : new DeliveryRefused('transient', textOf(error), { cause: error });
  });
  if (answer === LATE) throw new DeliveryRefused('unknown', `The platform did not answer within ${timeoutMs} ms`);
  return answer;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
