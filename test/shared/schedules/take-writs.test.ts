import { describe, expect, it } from 'vitest';
import { takeWrits } from '#shared/schedules/take-writs.ts';

const list = { line: '/schedule list', command: { kind: 'list' } };

describe('the writs of an output', () => {
  it('are taken out of it, each with its line', () => {
    const output = 'Done.\n/schedule in 1 hour: look again\nMore text.\n  /schedule cancel 42\r\nEnd: 17:00\n';
    expect(takeWrits(output, 5)).toEqual({
      text: 'Done.\nMore text.\nEnd: 17:00\n',
      writs: [
        { line: '/schedule in 1 hour: look again', command: { kind: 'create', phrase: 'in 1 hour', message: 'look again' } },
        { line: '/schedule cancel 42', command: { kind: 'cancel', number: 42 } },
      ],
      places: [1, 2],
    });
  });

  it('are not the lines of code, nor those that only mention one', () => {
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
    expect(takeWrits(output, 5)).toEqual({ text: output, writs: [], places: [] });
    expect(takeWrits(`${output}\n/schedule list`, 5)).toEqual({ text: output, writs: [list], places: [17] });
    expect(takeWrits('```\nan open fence\n/schedule list', 5).writs).toEqual([]);
  });

  it('that cannot be read are taken too, so that their writer hears of it', () => {
    expect(takeWrits('/schedule soon', 5)).toMatchObject({
      text: '',
      writs: [{ line: '/schedule soon', command: { kind: 'unreadable' } }],
    });
  });

  it('stay in the text beyond the bound, and a note says so', () => {
    const { text, writs } = takeWrits('/schedule list\n/schedule cancel 1\n/schedule cancel 2\nEnd\n', 1);
    expect(writs).toEqual([list]);
    expect(text).toMatch(/^\/schedule cancel 1\n\/schedule cancel 2\nEnd\n\n\[.* 2 were not carried out: at most 1 /);
    expect(takeWrits('/schedule list\n/schedule list', 1).text).toContain('one was not');
  });

  it('leave an output without any as it is', () => {
    expect(takeWrits('a\r\n\n b \n', 5)).toEqual({ text: 'a\r\n\n b \n', writs: [], places: [] });
  });
});
