/** Of a deadline; a process that stands still loses one of them, however long that takes. */
const SLICES = 5;

interface Deadline {
  sliceMs: number;
  left: number;
  timer: NodeJS.Timeout | undefined;
  isStopped: boolean;
  onLate: () => void;
}

/**
 * Calls back after `ms` milliseconds in which this process could have read an answer: it waits in slices, so that time in which it was too
 * busy or frozen hardly counts. Returns how to stop.
 */
export function startDeadline(ms: number, onLate: () => void): () => void {
  const deadline: Deadline = { sliceMs: ms / SLICES, left: SLICES, timer: undefined, isStopped: false, onLate };
  waitSlice(deadline);
  return () => {
    deadline.isStopped = true;
    clearTimeout(deadline.timer);
  };
}

function waitSlice(deadline: Deadline): void {
  deadline.timer = setTimeout(endSlice, deadline.sliceMs, deadline);
}

function endSlice(deadline: Deadline): void {
  deadline.left -= 1;
  if (deadline.left > 0) waitSlice(deadline);
  // An answer that has arrived is read first: timers come before input in a turn of the event loop.
  else setImmediate(() => setImmediate(() => !deadline.isStopped && deadline.onLate()));
}
