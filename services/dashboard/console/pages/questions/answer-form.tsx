import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import type { Question } from '#shared/client/openapi.gen.ts';
import { useMay } from '../../api/person.ts';
import { QUESTIONS_KEY } from '../../api/query-keys.ts';
import { useAction } from '../../parts/actions/use-action.ts';
import { answerFrom, fieldsOf, isComplete, type AnswerField, type WrittenAnswer } from './answer-fields.ts';
import classes from './questions.module.css';

interface AnswerFormProps {
  question: Question;
  answer: (answer: unknown) => Promise<unknown>;
}

/** Answers a question without choices: in words, or by a field for each value that its schema has. */
export function AnswerForm({ question: { schema }, answer }: AnswerFormProps): ReactElement | null {
  const [written, setWritten] = useState<WrittenAnswer>({});
  const act = useAction();
  if (!useMay('answer')) return null;
  const fields = fieldsOf(schema);
  const onSubmit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void act({ run: () => answer(answerFrom(fields, written)), done: 'Answered', refresh: [QUESTIONS_KEY, ['task']] });
  };
  return (
    <form className={classes['form']} onSubmit={onSubmit}>
      {fields.map((field) => (
        <AnswerInput
          key={field.name}
          field={field}
          text={written[field.name] ?? ''}
          onChange={(text) => setWritten((before) => ({ ...before, [field.name]: text }))}
        />
      ))}
      <Button type="submit" size="xs" variant="default" disabled={!isComplete(fields, written)}>
        Answer
      </Button>
    </form>
  );
}

interface AnswerInputProps {
  field: AnswerField;
  text: string;
  onChange: (text: string) => void;
}

function AnswerInput({ field: { name, label, hint, kind, choices, isRequired }, text, onChange }: AnswerInputProps): ReactElement {
  const common = {
    label,
    value: text,
    // A form with one field needs no mark that it is required.
    withAsterisk: isRequired && name !== '',
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value),
    ...(hint !== null && { description: hint }),
  };
  if (kind === 'choice') return <NativeSelect {...common} data={['', ...choices.map((choice) => choice.label)]} />;
  if (kind === 'number') return <TextInput {...common} inputMode="decimal" />;
  return <Textarea {...common} autosize minRows={name === '' ? 2 : 1} maxRows={12} />;
}
