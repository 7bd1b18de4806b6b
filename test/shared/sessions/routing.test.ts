import { describe, expect, it } from 'vitest';
import { chooseMode, parseMessage } from '#shared/sessions/routing.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';

describe('what a message says', () => {
  it.each([
    ['hello', 'hello'],
    ['  kept as it is \n', '  kept as it is \n'],
    ['see /etc/hosts and a/queue steer', 'see /etc/hosts and a/queue steer'],
    ['what is /queue', 'what is /queue'],
    ['what does /queue do exactly?', 'what does /queue do exactly?'],
    ['is /queue quite right here', 'is /queue quite right here'],
    ['does /queue?steer work', 'does /queue?steer work'],
    ['/', '/'],
    ['/1 is no name', '/1 is no name'],
  ])('is text for the agent: %j', (message, text) => {
    expect(parseMessage(message)).toEqual({ kind: 'text', text, mode: null });
  });

  it.each([
    ['/stop', 'stop', ''],
    ['/STOP', 'stop', ''],
    [' /stop@muster_bot ', 'stop', ''],
    ['/stop now please', 'stop', 'now please'],
    ['/schedule every day\nat 9', 'schedule', 'every day\nat 9'],
    ['/queue', 'queue', ''],
    ['/unknown thing', 'unknown', 'thing'],
  ])('is a command: %j', (message, name, argument) => {
    expect(parseMessage(message)).toEqual({ kind: 'command', name, argument });
  });

  it.each([
    ['/queue steer', 'steer'],
    ['/Queue@muster_bot INTERRUPT ', 'interrupt'],
    ['/queue default', 'default'],
    ['/queue reset', 'default'],
  ])('chooses the mode of the session: %j', (message, mode) => {
    expect(parseMessage(message)).toEqual({ kind: 'mode', mode });
  });

  it.each([
    ['/queue latest do this', 'latest', 'do this'],
    ['/queue collect\nfirst line\nsecond', 'collect', 'first line\nsecond'],
    ['do this /queue steer please', 'steer', 'do this please'],
    ['do this /queue@bot Reject', 'reject', 'do this'],
    ['one\n/queue interrupt\ntwo', 'interrupt', 'one\ntwo'],
    ['/queue default do this', 'default', 'do this'],
  ])('names its own mode, whose words are removed: %j', (message, mode, text) => {
    expect(parseMessage(message)).toEqual({ kind: 'text', text, mode });
  });

  it.each([
    ['/queue nonsense', 'nonsense'],
    ['/queue 5 times', '5'],
    ['do this /queue Stear now', 'Stear'],
  ])('names a mode that is none: %j', (message, word) => {
    expect(parseMessage(message)).toEqual({ kind: 'unknown-mode', word });
  });
});

describe('the mode of a message', () => {
  const settings = settingsSchema.parse({});
  const choices = { mode: 'interrupt' } as const;

  it('is its own before that of its session', () => {
    expect(chooseMode(settings, { inline: 'steer', choices, surface: 'webchat' })).toEqual({ mode: 'steer', source: 'message' });
    expect(chooseMode(settings, { inline: null, choices, surface: 'webchat' })).toEqual({ mode: 'interrupt', source: 'session' });
  });

  it('is collect for a person who may not steer, whatever was chosen', () => {
    for (const inline of ['steer', 'default', null] as const)
      expect(chooseMode(settings, { inline, canSteer: false, choices, surface: 'webchat' }).mode).toBe('collect');
  });
});
