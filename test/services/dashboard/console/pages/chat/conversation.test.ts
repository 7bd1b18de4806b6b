import { describe, expect, it } from 'vitest';
import type { SessionStreamEvent } from '#shared/client/openapi.gen.ts';
import {
  changeConversation,
  type ChatMessage,
  type Conversation,
  type ConversationChange,
  EMPTY_CONVERSATION,
  readLiveEvent,
} from '../../../../../../services/dashboard/console/pages/chat/conversation.ts';
import { outcomeText, waitTexts } from '../../../../../../services/dashboard/console/pages/chat/message-texts.ts';

const FIRST = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const SECOND = '01BX5ZZKBKACTAV9WEVGEMMVRZ';

const RAN = { kind: 'ran', taskId: null, reason: null };

const message = (id: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  id,
  text: `text of ${id}`,
  agent: 'echo',
  status: 'running',
  outcome: null,
  error: null,
  answer: '',
  attempt: 0,
  starts: [],
  attachments: [],
  artifacts: [],
  ...more,
});
const arrival = (id: string, more?: Partial<ChatMessage>): ConversationChange => ({ kind: 'message', message: message(id, more) });
const output = (attempt: number, seq: number, text: string, taskId = FIRST): ConversationChange => ({
  kind: 'output',
  piece: { taskId, attempt, seq, text },
});
const end = (taskId: string, answer: string | null): ConversationChange => ({
  kind: 'status',
  taskId,
  status: 'completed',
  outcome: RAN,
  answer,
  error: null,
  artifacts: null,
});
const after = (...changes: ConversationChange[]): Conversation => changes.reduce(changeConversation, EMPTY_CONVERSATION);
const answerAfter = (...changes: ConversationChange[]): string | undefined => after(arrival(FIRST), ...changes).messages[0]?.answer;

describe('a conversation', () => {
  it('sorts its messages by acceptance, whichever arrives first', () => {
    expect(after(arrival(SECOND), arrival(FIRST)).messages.map(({ id }) => id)).toEqual([FIRST, SECOND]);
  });

  it('appends pieces to an answer, and skips repeated pieces', () => {
    expect(answerAfter(output(1, 1, 'a'), output(1, 2, 'b'), output(1, 2, 'b'), output(1, 3, 'c'))).toBe('abc');
  });

  it('restarts an answer with a further attempt, with a restarted run, and with a repeated stream', () => {
    expect(answerAfter(output(1, 1, 'half'), output(2, 1, 'new'))).toBe('new');
    expect(answerAfter(output(1, 1, 'half'), output(1, 2, ' an answer'), output(1, 1, 'once'), output(1, 2, ' more'))).toBe('once more');
    expect(answerAfter(output(2, 1, 'new'), output(1, 2, 'late'))).toBe('new');
  });

  it('has the final text after the end, or the written text without a final text', () => {
    expect(answerAfter(output(1, 1, 'dra'), end(FIRST, 'the final text'))).toBe('the final text');
    expect(answerAfter(output(1, 1, 'cut off'), end(FIRST, null))).toBe('cut off');
  });

  it('keeps the text of a running answer when the stream repeats everything', () => {
    const again = after(
      arrival(FIRST, { status: 'completed', answer: 'done' }),
      arrival(SECOND),
      output(1, 1, 'half', SECOND),
      { kind: 'history', messages: [message(FIRST, { status: 'completed', answer: 'done' })] },
      arrival(SECOND),
      output(1, 2, ' more', SECOND),
    );
    expect(again.messages.map(({ answer }) => answer)).toEqual(['done', 'half more']);
    expect(again.isLoaded).toBe(true);
  });

  it('takes from the history the end of a message that ran when the stream was cut', () => {
    const ended = message(FIRST, { status: 'completed', answer: 'all of it' });
    expect(after(arrival(FIRST), output(1, 1, 'all'), { kind: 'history', messages: [ended] }).messages).toMatchObject([
      { status: 'completed', answer: 'all of it' },
    ]);
  });

  it('does not reopen an ended message', () => {
    const conversation = after(arrival(FIRST), end(FIRST, 'done'), arrival(FIRST, { status: 'queued' }));
    expect(conversation.messages).toMatchObject([{ status: 'completed', answer: 'done' }]);
  });

  it('ignores the answer to a request when the stream was faster', () => {
    const sent = { kind: 'sent', message: message(FIRST, { text: '/queue latest hi', agent: null, status: 'queued' }) } as const;
    expect(after(sent).messages).toMatchObject([{ status: 'queued' }]);
    const shown = [{ text: 'hi', agent: 'echo', status: 'running' }];
    expect(after(arrival(FIRST, { text: 'hi' }), sent).messages).toMatchObject(shown);
    expect(after(sent, arrival(FIRST, { text: 'hi' })).messages).toMatchObject(shown);
  });

  it('shows the answer of a command after the last message of that time', () => {
    const conversation = after(arrival(FIRST), { kind: 'line', id: 'line-1', text: 'Nothing runs.' }, arrival(SECOND));
    expect(conversation.lines).toEqual([{ id: 'line-1', text: 'Nothing runs.', after: FIRST }]);
  });
});

const AT = '2026-05-01T09:00:00.000Z';
const TURN = { taskId: FIRST, text: 'hi', user: null, agent: 'echo', createdAt: AT, attachments: [] };

describe('an event of the stream', () => {
  it('is parsed into a change', () => {
    const ended = { ...TURN, status: 'completed' as const, outcome: RAN, output: 'hi', error: null, completedAt: AT, artifacts: [] };
    expect(readLiveEvent({ event: 'history', data: { items: [ended] } })).toMatchObject({
      kind: 'history',
      messages: [{ id: FIRST, answer: 'hi' }],
    });
    expect(readLiveEvent({ event: 'message', data: { ...TURN, status: 'queued' } })).toEqual(
      arrival(FIRST, { text: 'hi', status: 'queued' }),
    );
    expect(readLiveEvent({ event: 'output', data: { taskId: FIRST, attempt: 1, seq: 2, text: 'x' } })).toEqual(output(1, 2, 'x'));
    const failed = { taskId: FIRST, status: 'permanently_failed' as const, output: null, outcome: null, artifacts: [] };
    expect(readLiveEvent({ event: 'end', data: { ...failed, error: { code: 'X', message: 'why' } } })).toMatchObject({
      kind: 'status',
      error: 'why',
    });
  });

  it('is null when it is of a newer server', () => {
    expect(readLiveEvent({ event: 'weather', data: {} } as unknown as SessionStreamEvent)).toBeNull();
  });
});

describe('the line below a message', () => {
  it.each([
    ['steered', 'Went into the running answer'],
    ['merged', 'Became one turn with another message'],
    ['superseded', 'Replaced by a newer message'],
    ['rejected', 'Refused: an answer was running'],
    ['dropped', 'Dropped: too many wait'],
    ['cancelled', 'Cancelled: too many wait'],
  ])('is its outcome when it was %s', (kind, text) => {
    expect(outcomeText(message(FIRST, { status: 'skipped', outcome: { kind, taskId: null, reason: 'too many wait' } }))).toBe(text);
  });

  it('is the error of a failure, and nothing after an answer', () => {
    expect(outcomeText(message(FIRST, { status: 'permanently_failed', outcome: RAN, error: 'no such model' }))).toBe(
      'Failed: no such model',
    );
    expect(outcomeText(message(FIRST, { status: 'completed', outcome: RAN }))).toBeNull();
  });

  it('names a message that it waits for by its words, and any other task by its id', () => {
    const session = {
      holder: { taskId: FIRST, reason: 'queue chat is paused' },
      waiting: [{ taskId: SECOND, position: 1, reason: `behind task ${FIRST}` }],
    };
    const known = waitTexts(session, [message(FIRST, { text: 'tell me\nmore' })]);
    expect([...known]).toEqual([
      [SECOND, 'behind “tell me more”'],
      [FIRST, 'queue chat is paused'],
    ]);
    expect(waitTexts(session, []).get(SECOND)).toBe(`behind task ${FIRST}`);
  });
});
