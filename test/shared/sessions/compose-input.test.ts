import { describe, expect, it } from 'vitest';
import { composeInput } from '#shared/sessions/compose-input.ts';

describe('the input of a task with messages', () => {
  it('is its own text when there are none, as it is', () => {
    expect(composeInput('  hello\n', [])).toBe('  hello\n');
  });

  it('has what it carries on first, then its own text, then what was merged and steered into it, in their order', () => {
    const inputs = [
      { how: 'merged', text: 'b' },
      { how: 'carried', text: 'before' },
      { how: 'steered', text: 'c' },
    ] as const;
    expect(composeInput('a', inputs)).toBe('before\n\na\n\nb\n\nc');
  });

  it('says first which messages were left out of it, a line each', () => {
    expect(composeInput('a', [{ how: 'merged', text: 'b' }], ['one\n two ', 'three'])).toMatch(
      /left out.*:\n- one two\n- three\n\na\n\nb$/,
    );
  });
});
