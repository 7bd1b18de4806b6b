import { expect, it } from 'vitest';
import { EventParser } from '#shared/client/event-parser.ts';

const TEXT = [
  'retry: 2000\n\n',
  'event: status\ndata: {"status":"queued"}\n\n',
  ': heartbeat\n\n',
  'event: output\nid: 1-0\ndata: {"text":"é: one"}\n\n',
  'data: two\ndata: lines\n\n',
].join('');

const EVENTS = [
  { event: 'status', data: '{"status":"queued"}', id: undefined },
  { event: 'output', data: '{"text":"é: one"}', id: '1-0' },
  { event: 'message', data: 'two\nlines', id: undefined },
];

it('events are the same in whatever pieces their text comes', () => {
  for (let size = 1; size <= TEXT.length; size += 1) {
    const parser = new EventParser();
    const pieces = TEXT.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    expect(pieces.flatMap((piece) => parser.read(piece))).toEqual(EVENTS);
  }
});

it('an event whose end was cut off is none', () => {
  expect(new EventParser().read('event: end\ndata: {}\n')).toEqual([]);
});
