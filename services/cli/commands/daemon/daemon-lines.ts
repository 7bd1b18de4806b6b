import type { AttemptOutcome, DaemonEvent } from '#daemon';
import { durationText } from '#shared/time/index.ts';

const OUTCOMES: Readonly<Record<AttemptOutcome, string>> = {
  completed: 'completed',
  failed: 'failed',
  stopped: 'stopped',
  dropped: 'stopped, because it goes on elsewhere or has ended',
};

/** What happened to the daemon, in one line for the person who started it. */
export function describeDaemonEvent(event: DaemonEvent): string {
  switch (event.type) {
    case 'connected':
      return `Connected to ${event.hub} as ${event.daemonId}.${describeAttempts(event)}`;
    case 'disconnected':
      return `${event.message}. Trying again in ${durationText(event.retryMs)}.`;
    case 'started':
      return `Task ${event.taskId} started: agent ${event.agent}, attempt ${event.attempt}.`;
    case 'ended':
      return `Task ${event.taskId} ${OUTCOMES[event.outcome]} after ${durationText(event.ms)}${event.message === undefined ? '' : `: ${event.message}`}.`;
    case 'acknowledged':
      return event.outcome === 'kept'
        ? `The hub has the result of task ${event.taskId}.`
        : `The hub refused the result of task ${event.taskId}: it goes on elsewhere, or has ended.`;
    case 'draining':
      return describeDrain(event.running);
    case 'problem':
      return `Problem: ${event.message}`;
  }
}

function describeDrain(running: number): string {
  if (running === 0) return 'Ending.';
  const still =
    running === 1 ? '1 task still runs here; Ctrl-C again stops it' : `${running} tasks still run here; Ctrl-C again stops them`;
  return `Taking no more tasks. ${still}.`;
}

function describeAttempts({ kept, dropped }: { kept: number; dropped: number }): string {
  const words = [...(kept > 0 ? [`going on: ${kept}`] : []), ...(dropped > 0 ? [`no longer wanted: ${dropped}`] : [])];
  return words.length === 0 ? '' : ` Tasks from before, ${words.join(', ')}.`;
}
