import { NativeSelect, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import { HANDSHAKES, type Provider } from './hook-texts.ts';
import classes from './hooks.module.css';

/** What was chosen, by the option's name; empty for the default. */
export type ChosenOptions = Readonly<Record<string, string>>;

interface OptionField {
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  /** The providers that take it. */
  readonly of: readonly Provider[];
  /** The first is the default. */
  readonly choices?: readonly { value: string; label: string }[];
  readonly isRequired?: boolean;
}

const choicesOf = (...texts: readonly string[]): { value: string; label: string }[] =>
  texts.map((label, at) => ({ value: at === 0 ? '' : label, label }));

const NAMED: readonly Provider[] = ['hmac', 'none'];

/** The options of a new hook, in the order in which a sender's documentation has them. */
const FIELDS: readonly OptionField[] = [
  { name: 'header', label: 'Header of the signature', of: ['hmac'], isRequired: true },
  {
    name: 'handshake',
    label: 'Check of the address',
    description: 'The sender whose check of a new address is answered',
    of: NAMED,
    choices: choicesOf('none', ...HANDSHAKES),
  },
  { name: 'verifyToken', label: 'Verify token', description: 'The word that you give the sender, too, where it has one', of: NAMED },
  { name: 'prefix', label: 'Prefix of the signature', description: 'Such as sha256= or v1=', of: ['hmac'] },
  { name: 'encoding', label: 'Signature is written in', of: ['hmac'], choices: choicesOf('hex', 'base64') },
  { name: 'algorithm', label: 'Algorithm', of: ['hmac'], choices: choicesOf('sha256', 'sha1', 'sha512') },
  { name: 'secretEncoding', label: 'Secret is', of: ['hmac'], choices: choicesOf('text', 'base64', 'hex') },
  {
    name: 'timestampHeader',
    label: 'Header of the time',
    description: 'That of the signature for t=…,v1=…; without one nothing grows too old',
    of: ['hmac'],
  },
  { name: 'timestampUnit', label: 'Time is written in', of: ['hmac'], choices: choicesOf('s', 'ms', 'iso') },
  { name: 'signedContent', label: 'Signed content', description: 'Of {body}, {timestamp} and {id}', of: ['hmac'] },
  { name: 'deliveryHeader', label: 'Header of the id', description: 'By which a delivery that comes again is recognized', of: NAMED },
  { name: 'eventHeader', label: 'Header of the event', of: NAMED },
  {
    name: 'equalBodies',
    label: 'Equal deliveries',
    description: 'Without an id, or under ids that are not signed',
    of: ['github', 'gitlab', 'slack', 'hmac', 'none'],
    choices: [
      { value: '', label: 'are one' },
      { value: 'each', label: 'are each one' },
    ],
  },
];

interface HookOptionsProps {
  provider: Provider;
  chosen: ChosenOptions;
  change: (chosen: ChosenOptions) => void;
}

/** The options of a provider: what it cannot do without, and the rest on demand. */
export function HookOptions({ provider, chosen, change }: HookOptionsProps): ReactElement | null {
  const fields = FIELDS.filter(({ of }) => of.includes(provider));
  if (fields.length === 0) return null;
  const shown = (field: OptionField): ReactElement => (
    <OneOption
      key={field.name}
      field={field}
      value={chosen[field.name] ?? ''}
      change={(value) => change({ ...chosen, [field.name]: value })}
    />
  );
  return (
    <>
      {fields.filter(({ isRequired }) => isRequired).map(shown)}
      <details>
        <summary>Options of the sender</summary>
        <div className={classes['options']}>{fields.filter(({ isRequired }) => !isRequired).map(shown)}</div>
      </details>
    </>
  );
}

interface OneOptionProps {
  field: OptionField;
  value: string;
  change: (value: string) => void;
}

function OneOption({ field: { label, description, choices, isRequired = false }, value, change }: OneOptionProps): ReactElement {
  const shared = { label, description, value, required: isRequired } as const;
  const onChange = ({ currentTarget }: { currentTarget: { value: string } }): void => change(currentTarget.value);
  if (choices === undefined) return <TextInput {...shared} autoComplete="off" onChange={onChange} />;
  return <NativeSelect {...shared} data={[...choices]} onChange={onChange} />;
}

/** The options of a request: those of the provider that were chosen. */
export function optionsOf(provider: Provider, chosen: ChosenOptions): Record<string, string> | undefined {
  const names = FIELDS.filter(({ of }) => of.includes(provider)).map(({ name }) => name);
  const given = names.flatMap((name) => (chosen[name] ? [[name, chosen[name]] as const] : []));
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
