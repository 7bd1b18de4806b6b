import { DeliveryRefused } from './chat-port.ts';

/** What a call to a platform answers. Throws `DeliveryRefused` only: `transient` for what has no kind. The port limits its time. */
export async function callPlatform<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof DeliveryRefused ? error : new DeliveryRefused('transient', textOf(error), { cause: error });
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
