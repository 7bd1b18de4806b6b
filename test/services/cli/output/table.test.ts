import { describe, expect, it } from 'vitest';
import { wrapRow } from '../../../../services/cli/output/table.ts';

const ROW = '  ok    Redis version  read from /a/long/path/of/this/machine that stays whole';

describe('a row that is wider than the terminal', () => {
  it('continues below its last cell, and breaks no word', () => {
    expect(wrapRow(ROW, 2, 45)).toEqual([
      '  ok    Redis version  read from',
      '                       /a/long/path/of/this/machine',
      '                       that stays whole',
    ]);
  });

  it('continues at the margin where little room is left, and where it is a sentence', () => {
    expect(wrapRow(ROW, 2, 30).slice(1)).toEqual(['from', '/a/long/path/of/this/machine', 'that stays whole']);
    expect(wrapRow('3 of 9 checks failed, so look there.', 2, 22)).toEqual(['3 of 9 checks failed,', 'so look there.']);
  });

  it('stays as it is where no terminal reads it, and where it fits', () => {
    expect(wrapRow(ROW, 2, null)).toEqual([ROW]);
    expect(wrapRow(ROW, 2, ROW.length)).toEqual([ROW]);
    expect(wrapRow('', 2, 80)).toEqual(['']);
  });
});
