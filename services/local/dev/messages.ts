/** From the process of one generation to the one that supervises it. */
export type FromGeneration =
  /** A file of the author's that it is about to load. */
  | { kind: 'file'; file: string }
  /** It takes requests and tasks. */
  | { kind: 'ready' }
  /** It cannot start; `message` is for the author. */
  | { kind: 'failed'; message: string };

/** To a generation. */
export type ToGeneration =
  /** Its successor is there: it takes nothing more, and ends once all that runs there has ended. */
  | { kind: 'retire' }
  /** It ends within its grace, and hands back what runs. */
  | { kind: 'stop' };

/** Both ends are of one version: the kind shows that it is such a message. */
export function isFromGeneration(message: unknown): message is FromGeneration {
  return ['file', 'ready', 'failed'].includes(kindOf(message));
}

export function isToGeneration(message: unknown): message is ToGeneration {
  return ['retire', 'stop'].includes(kindOf(message));
}

function kindOf(message: unknown): string {
  return typeof message === 'object' && message !== null && 'kind' in message ? String(message.kind) : '';
}
