import { describe, expect, it } from 'vitest';
import { chatText, endingText } from '#shared/deliveries/replies/reply-text.ts';
import type { FinishReason } from '#shared/config/define-config.ts';
import type { OutcomeKind } from '#shared/tasks/task.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import type { TaskStatus } from '#shared/tasks/transitions.ts';

interface End {
  status: TaskStatus;
  output?: string;
  outcome?: OutcomeKind;
  reason?: string;
  code?: string;
  finishReason?: FinishReason;
}

const textOf = ({ status, output, outcome, reason, code, finishReason }: End, shown: string | null): string | null => {
  const state = {
    status,
    finishReason,
    ...(outcome === undefined ? {} : { outcome: { kind: outcome, ...(reason === undefined ? {} : { reason }) } }),
    ...(code === undefined ? {} : { error: { code, message: '', retryable: false } }),
  } as unknown as TaskState;
  return endingText({ state, output: output ?? null }, shown);
};

describe('at the end of a task a chat gets', () => {
  it.each<[string, End, string | null, string | null]>([
    ['the output', { status: 'completed', output: 'Done.', outcome: 'ran' }, 'Do', 'Done.'],
    ['the output of a model that came to its end', { status: 'completed', output: 'Done.', finishReason: 'stop' }, 'Do', 'Done.'],
    [
      'a word about an output that was cut at its limit',
      { status: 'completed', output: 'Half ', finishReason: 'length' },
      'Ha',
      'Half\n\n(The answer was cut here: it reached its limit of length.)',
    ],
    [
      'a word about an output that a filter cut',
      { status: 'completed', output: 'Half', finishReason: 'content_filter' },
      null,
      'Half\n\n(The answer was cut here by a content filter.)',
    ],
    ['a word about an empty output', { status: 'completed', output: ' \n', outcome: 'ran' }, null, '(no answer)'],
    ['the code of a failure', { status: 'permanently_failed', code: 'TIMEOUT' }, null, 'Sorry, this did not work (TIMEOUT).'],
    [
      'what was shown before a failure',
      { status: 'permanently_failed', code: 'TIMEOUT' },
      'Do ',
      'Do\n\n(Sorry, the answer broke off here: TIMEOUT.)',
    ],
    ['what was shown until a stop', { status: 'cancelled', outcome: 'cancelled', reason: '/stop' }, 'Do ', 'Do\n\n(stopped)'],
    ['nothing after a stop before anything was shown', { status: 'cancelled', outcome: 'cancelled' }, null, null],
    ['what was shown until an interruption', { status: 'cancelled', outcome: 'superseded' }, 'Do', 'Do\n\n(interrupted)'],
    ['nothing when it was superseded before', { status: 'cancelled', outcome: 'superseded' }, null, null],
    ['nothing when it went into another task', { status: 'skipped', outcome: 'steered' }, null, null],
    ['nothing when it was merged', { status: 'skipped', outcome: 'merged' }, null, null],
    ['nothing of an occurrence that was skipped', { status: 'skipped', outcome: 'skipped', reason: 'still running' }, null, null],
    ['why it was rejected', { status: 'cancelled', outcome: 'rejected', reason: 'busy' }, null, '(not taken: busy)'],
    ['why it was dropped', { status: 'cancelled', outcome: 'dropped', reason: 'too many wait' }, null, '(dropped: too many wait)'],
    ['that it came too late', { status: 'stale', outcome: 'expired' }, null, '(not started in time)'],
  ])('%s', (_what, end, shown, text) => {
    expect(textOf(end, shown)).toBe(text);
  });
});

describe('the plain output of a program', () => {
  it.each([
    ['its lines stay lines', 'b\na\n', '```\nb\na\n```'],
    ['its columns stay columns', '  1 one', '```\n  1 one\n```'],
    ['its signs are no marks', '2 * 3 * 4', '```\n2 * 3 * 4\n```'],
    ['its own fences end no block', 'see\n````\nx\n````', '`````\nsee\n````\nx\n````\n`````'],
    ['a line without signs is as it is', 'done\n', 'done\n'],
    ['nothing is no block', ' \n', ' \n'],
  ])('%s', (_what, text, shown) => {
    expect(chatText(text, true)).toBe(shown);
    expect(chatText(text, false)).toBe(text);
  });
});
