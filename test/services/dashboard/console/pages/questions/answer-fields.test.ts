import { describe, expect, it } from 'vitest';
import { answerFrom, fieldsOf, isComplete } from '../../../../../../services/dashboard/console/pages/questions/answer-fields.ts';

const TRIP = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Of the office' },
    nights: { type: 'integer' },
    class: { enum: ['first', 'second', 3] },
    rush: { type: 'boolean' },
  },
  required: ['city', 'rush'],
};

describe('the fields of an answer', () => {
  it('are one text for a question in words', () => {
    expect(fieldsOf(null)).toMatchObject([{ name: '', label: 'Answer', kind: 'text', isRequired: true }]);
    expect(answerFrom(fieldsOf(null), { '': ' 42 ' })).toBe('42');
  });

  it.each([
    [{ type: 'string' }, '42', '42'],
    [{ type: 'integer' }, '42', 42],
    [{ type: 'number' }, 'many', 'many'],
    [{ type: 'boolean' }, 'yes', true],
    [{ enum: ['a', 2] }, '2', 2],
    [{ type: 'array', items: { type: 'string' } }, '["a"]', ['a']],
    [{ type: 'array' }, '[a', '[a'],
  ])('are one for the value of %j', (schema, text, answer) => {
    const fields = fieldsOf(schema);
    expect(fields).toHaveLength(1);
    expect(answerFrom(fields, { '': text })).toEqual(answer);
  });

  it('are one for each property of an object, and leave out what is empty', () => {
    const fields = fieldsOf(TRIP);
    expect(fields.map(({ name, kind, hint, isRequired }) => [name, kind, hint, isRequired])).toEqual([
      ['city', 'text', 'Of the office', true],
      ['nights', 'number', null, false],
      ['class', 'choice', null, false],
      ['rush', 'choice', null, true],
    ]);
    expect(isComplete(fields, { city: 'Rome' })).toBe(false);
    const written = { city: 'Rome', nights: ' ', class: '3', rush: 'no' };
    expect(isComplete(fields, written)).toBe(true);
    expect(answerFrom(fields, written)).toEqual({ city: 'Rome', class: 3, rush: false });
  });

  it('are JSON for an object that has more than single values', () => {
    const nested = { type: 'object', properties: { ...TRIP.properties, stops: { type: 'array' } } };
    expect(fieldsOf(nested)).toMatchObject([{ name: '', kind: 'json', hint: JSON.stringify(nested) }]);
    expect(answerFrom(fieldsOf(nested), { '': '{ "city": "Rome" }' })).toEqual({ city: 'Rome' });
    expect(isComplete(fieldsOf(nested), {})).toBe(false);
  });
});
