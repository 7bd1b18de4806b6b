/** What a worker is told of an attempt that it may hold, by the attempt's lease member. */
export interface WorkerSignal {
  /** `stop`: look at the lease, which says why. `input`: messages wait to be taken with `takeInput`. */
  kind: 'stop' | 'input';
  member: string;
}

/** Reads a message of `workerChannel`: `<member>` is a stop, `input <member>` says that there is input. */
export function parseWorkerSignal(message: string): WorkerSignal {
  const [, input, member = ''] = /^(input )?(.*)$/s.exec(message) ?? [];
  return { kind: input === undefined ? 'stop' : 'input', member };
}
