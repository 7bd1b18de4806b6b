import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isScheduleCommand, readScheduleCommand } from '#shared/schedules/read-schedule-command.ts';

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
  ])('%j is not read, and says why', (text, reason) => {
    expect(readScheduleCommand(text)).toEqual({ kind: 'unreadable', reason: expect.stringContaining(reason) });
  });

  it('is no other word that begins so', () => {
    expect(['/schedule', '/schedule list', '/schedule@bot x', '/SCHEDULE\tx'].every(isScheduleCommand)).toBe(true);
    expect(['/schedules', '/scheduled x', 'schedule x', 'x /schedule', '//schedule x'].some(isScheduleCommand)).toBe(false);
  });

  it('is read whatever follows, and at once', () => {
    assert(property(string({ unit: 'binary', maxLength: 300 }), (text) => void readScheduleCommand(`/schedule ${text}`)));
    const long = [' ', '"', '1:1', 'cancel ', "'"].map((part) => readScheduleCommand(`/schedule ${part.repeat(300_000)}`).kind);
    expect(new Set(long)).toEqual(new Set(['unreadable']));
  });
});
