import { describe, expect, it } from 'vitest';
import { withoutMentions } from '../../../../services/chat/replies/reply-text.ts';
import { snowflakeNumber } from '../../../../services/chat/platforms/discord.ts';

describe('a text without mentions', () => {
  it.each(['@everyone', '@here now', 'Hi @ada', '(@team)', '<@U123>', '<@!77>', '<@&88>', '<!channel>', '<#C1>'])(
    'calls nobody: %s',
    (text) => {
      const safe = withoutMentions(text, 2000);
      expect(safe).not.toMatch(/(?<!\w)@\w|<[@!#]/);
      expect(safe.replaceAll('\u200B', '')).toBe(text);
    },
  );

  it.each(['a@b.com', 'https://example.com/@ada', 'in `@decorator` only', '```\n@Injectable()\nclass A {}\n```', 'a < b', '3 @ 4'])(
    'is as it was where there is none: %s',
    (text) => {
      expect(withoutMentions(text, 2000)).toBe(text);
    },
  );

  it('is not longer than what fits', () => {
    const text = '@a '.repeat(660).trim();
    expect(withoutMentions(text, 2000)).toHaveLength(text.length);
    expect(withoutMentions(text, 2000)).not.toContain('@');
  });
});

describe('the number of a snowflake', () => {
  it('keeps the order of time and counter, and fits a double', () => {
    const numbers = [at(358_000_000_000n, 1023n, 4095n), at(358_000_000_001n, 0n, 0n), at(358_000_000_001n, 0n, 1n)];
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    expect(new Set(numbers).size).toBe(3);
    expect(Number.isSafeInteger(at(2n ** 41n - 1n, 1023n, 4095n))).toBe(true);
  });
});

function at(ms: bigint, machine: bigint, counter: bigint): number {
  return snowflakeNumber(String((ms << 22n) | (machine << 12n) | counter));
}
