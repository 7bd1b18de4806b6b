import { describe, expect, it } from 'vitest';
import { answerProblem, choiceOf, readTextAnswer } from '#shared/config/asked-question.ts';

describe('a text that answers a question', () => {
  it.each([
    ['yes', 'yes'],
    ['  YES ', 'yes'],
    ['2', 'no'],
    ['3', undefined],
    ['y', undefined],
    ['', undefined],
  ])('is a choice or its number, whatever its case and the blanks around it: "%s"', (text, choice) => {
    expect(choiceOf({ choices: ['yes', 'no'] }, text)).toBe(choice);
  });

  it('is the choice that it says before the one whose number it is', () => {
    expect(['1', '2', '3'].map((text) => choiceOf({ choices: ['3', '1', 'two'] }, text))).toEqual(['1', '1', '3']);
  });

  it.each([
    [null, ' forty-two ', 'forty-two'],
    [null, '42', '42'],
    [{ type: 'integer' }, '42', 42],
    [{ type: 'string' }, '42', '42'],
    [{ type: 'object', properties: { count: { type: 'integer' } } }, '{ "count": 42 }', { count: 42 }],
  ])('is a text, or by the schema %j the JSON that fits it', (schema, text, answer) => {
    const asked = { choices: null, schema };
    expect(readTextAnswer(asked, text)).toEqual(answer);
    expect(answerProblem(asked, readTextAnswer(asked, text))).toBeNull();
  });

  it('is itself where it fits nothing, and its problem says what was expected', () => {
    const asked = { choices: null, schema: { type: 'integer' } };
    expect(answerProblem(asked, readTextAnswer(asked, 'many'))).toMatch(/^answer/);
    expect(readTextAnswer({ choices: ['yes', 'no'], schema: null }, 'maybe')).toBe('maybe');
  });
});
