/** What a script can tell from how a command ended. */
export const EXIT = {
  /** Done; for `send`: the task completed. */
  ok: 0,
  /** The task failed or was cancelled, or the server refused for its own reasons. */
  failed: 1,
  /** The command was not understood, or what it asks for cannot be: an unknown option, agent or key. */
  usage: 2,
  /** No answer: nothing listens there, or the fleet is not ready. */
  unreachable: 3,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
