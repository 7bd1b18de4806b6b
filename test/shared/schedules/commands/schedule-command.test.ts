import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isScheduleCommand, readScheduleCommand, extractDirectives } from '#shared/schedules/commands/schedule-command.ts';

describe('/schedule', () => {
  it.each([
    ['in 1 hour: review the deploy status and report regressions', 'in 1 hour', 'review the deploy status and report regressions'],
    ["every monday at 09:00: summarise last week's merged PRs", 'every monday at 09:00', "summarise last week's merged PRs"],
    ['every monday at 09:00:summarise', 'every monday at 09:00', 'summarise'],
    ['every day at 9: 30 things to do', 'every day at 9', '30 things to do'],
    ['every day at 9am:30 things', 'every day at 9am', '30 things'],
    ['"every day at 9": text', 'every day at 9', 'text'],
    ['“every day at 9:00” : text', 'every day at 9:00', 'text'],
    ["'in 5 minutes': text", 'in 5 minutes', 'text'],
    ['on 2026-06-01T12:00+02:00: a: b', 'on 2026-06-01T12:00+02:00', 'a: b'],
    ['0 9 * * 1-5: go', '0 9 * * 1-5', 'go'],
    ['every 5m: "quoted": and more', 'every 5m', '"quoted": and more'],
    ['every 5m: one\nline: two', 'every 5m', 'one\nline: two'],
  ])('%j is a phrase and a message', (text, phrase, message) => {
    expect(readScheduleCommand(`/schedule ${text}`)).toEqual({ kind: 'create', phrase, message });
  });

  it.each([
    ['/schedule list', { kind: 'list' }],
    ['  /Schedule  LIST ', { kind: 'list' }],
    ['/schedule@muster_bot list', { kind: 'list' }],
    ['/schedule cancel 42', { kind: 'cancel', number: 42 }],
    ['/schedule pause #42', { kind: 'pause', number: 42 }],
    ['/schedule RESUME 7', { kind: 'resume', number: 7 }],
  ])('%j is a command', (text, command) => {
    expect(readScheduleCommand(text)).toEqual(command);
  });

  it.each([
    ['/schedule', 'neither when nor what'],
    ['/schedule cancel', 'no colon'],
    ['/schedule cancel all', 'no colon'],
    ['/schedule at 17:00 do it', 'no colon'],
    ['/schedule in 1 hour\nwith: a colon below', 'no colon'],
    ['/schedule in 1 hour:  ', 'no message'],
    ['/schedule : text', 'not say when'],
  ])('%j is unreadable, with a reason', (text, reason) => {
    expect(readScheduleCommand(text)).toEqual({ kind: 'unreadable', reason: expect.stringContaining(reason) });
  });

  it('is not a longer word with the same beginning', () => {
    expect(['/schedule', '/schedule list', '/schedule@bot x', '/SCHEDULE\tx'].every(isScheduleCommand)).toBe(true);
    expect(['/schedules', '/scheduled x', 'schedule x', 'x /schedule', '//schedule x'].some(isScheduleCommand)).toBe(false);
  });

  it('is parsed in linear time, whatever follows', () => {
    assert(property(string({ unit: 'binary', maxLength: 300 }), (text) => void readScheduleCommand(`/schedule ${text}`)));
    const long = [' ', '"', '1:1', 'cancel ', "'"].map((part) => readScheduleCommand(`/schedule ${part.repeat(300_000)}`).kind);
    expect(new Set(long)).toEqual(new Set(['unreadable']));
  });
});

const list = { line: '/schedule list', command: { kind: 'list' } };

describe('the directives of an output', () => {
  it('are extracted, each with its line', () => {
    const output = 'Done.\n/schedule in 1 hour: look again\nMore text.\n  /schedule cancel 42\r\nEnd: 17:00\n';
    expect(extractDirectives(output, 5)).toEqual({
      text: 'Done.\nMore text.\nEnd: 17:00\n',
      directives: [
        { line: '/schedule in 1 hour: look again', command: { kind: 'create', phrase: 'in 1 hour', message: 'look again' } },
        { line: '/schedule cancel 42', command: { kind: 'cancel', number: 42 } },
      ],
      places: [1, 2],
    });
  });

  it('are neither lines of code nor mentions in a sentence', () => {
    const output = [
      'Write `/schedule list`, or:',
      '```sh',
      '/schedule list',
      '~~~',
      '``',
      '```',
      'then',
      '~~~~',
      '/schedule list',
      '~~~',
      '/schedule list',
      '~~~~~ ',
      '    /schedule list',
      '\t/schedule list',
      '/scheduled list',
      '> /schedule list',
      '```code``` here',
    ].join('\n');
    expect(extractDirectives(output, 5)).toEqual({ text: output, directives: [], places: [] });
    expect(extractDirectives(`${output}\n/schedule list`, 5)).toEqual({ text: output, directives: [list], places: [17] });
    expect(extractDirectives('```\nan open fence\n/schedule list', 5).directives).toEqual([]);
  });

  it('are extracted also when unreadable, so that the agent gets an error', () => {
    expect(extractDirectives('/schedule soon', 5)).toMatchObject({
      text: '',
      directives: [{ line: '/schedule soon', command: { kind: 'unreadable' } }],
    });
  });

  it('stay in the text beyond the maximum, and a note says so', () => {
    const { text, directives } = extractDirectives('/schedule list\n/schedule cancel 1\n/schedule cancel 2\nEnd\n', 1);
    expect(directives).toEqual([list]);
    expect(text).toMatch(/^\/schedule cancel 1\n\/schedule cancel 2\nEnd\n\n\[.* 2 were not applied: one answer has at most 1/);
    expect(extractDirectives('/schedule list\n/schedule list', 1).text).toContain('one was not');
  });

  it('leave an output without directives unchanged', () => {
    expect(extractDirectives('a\r\n\n b \n', 5)).toEqual({ text: 'a\r\n\n b \n', directives: [], places: [] });
  });
});
