/** What a task waits for, by its gate. */
const GATE_TEXTS: Readonly<Record<string, string>> = {
  queue: 'a free slot',
  lane: 'the task before it in its lane',
  cap: 'room under a limit',
  time: 'its time',
  debounce: 'further messages',
  retry: 'its retry',
  suspect: 'an isolated run',
  steer: 'the running task to take it as input',
  provider: 'its provider',
  budget: 'its budget',
  circuit: 'an endpoint that keeps failing',
  failures: 'somebody to see to its agent',
  agent: 'its agent, which is paused',
  repeats: 'somebody to see to what sends the same input',
  daemon: 'a daemon that can run it',
  paused: 'its queue, which is paused',
  worker: 'a worker that serves its queue',
  commands: 'other commands to end',
};

/** What a gate waits for in words, `its retry`. */
export function gateText(gate: string): string {
  return GATE_TEXTS[gate] ?? gate;
}
