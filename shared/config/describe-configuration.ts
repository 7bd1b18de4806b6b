import { environmentSchema } from './environment.ts';
import type { Config } from './load-config.ts';
import { secretVariables } from './secrets/secret-variables.ts';
import { settingsSchema } from './settings/settings.ts';
import { isAgentSchema } from '../text/index.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A setting that holds, for people. */
export interface DescribedSetting {
  section: string;
  name: string;
  value: Json;
  default: Json;
  differs: boolean;
}

/** A shorter secret would redact parts of ordinary words. */
const MIN_SECRET = 6;
const REDACTED = '[redacted]';
/** Members that may hold a secret: credentials, headers, variables, and arguments of programs. */
const SECRET_MEMBERS = /secret|token$|password|apikey$|^authorization$|^cookie$|^headers$|^env$|^command$|^sandbox$/i;

/** The environment and the settings that hold, each beside its default. Secrets are redacted by name, by address and by value. */
export function describeConfiguration({ env, settings, readVariable }: Config): DescribedSetting[] {
  const secretNames = new Set(secretVariables(settings.agents));
  const secrets = [...secretNames].flatMap((name) => readVariable(name) ?? []).filter(({ length }) => length >= MIN_SECRET);
  const redact = (value: unknown): Json => redactText(toJson(value), secrets);
  const defaults = new Map<string, unknown>(Object.entries(environmentSchema.parse({})));
  const environment = Object.keys(environmentSchema.shape).map((name) => {
    const value: unknown = Reflect.get(env, name);
    const isSecret = secretNames.has(name) && value !== undefined;
    return describe('environment', name, [isSecret ? REDACTED : redact(value), redact(defaults.get(name))]);
  });
  const standard: Record<string, unknown> = settingsSchema.parse({});
  const sections = Object.entries(settings).flatMap(([section, value]) =>
    leavesOf(section, value, standard[section]).map(([name, leaf, other]) => describe(section, name, [redact(leaf), redact(other)])),
  );
  return [...environment, ...sections];
}

function describe(section: string, name: string, [value, standard]: [value: Json, standard: Json]): DescribedSetting {
  return { section, name, value, default: standard, differs: JSON.stringify(value) !== JSON.stringify(standard) };
}

type Leaf = [path: string, value: unknown, standard: unknown];

/** The settings below a path, with those that only the defaults have. */
function leavesOf(path: string, value: unknown, standard: unknown): Leaf[] {
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (holdsSecret(name, value)) return [[path, REDACTED, standard]];
  if (!isRecord(value) || isAgentSchema(value)) return [[path, value, standard]];
  const other = isRecord(standard) ? standard : {};
  const names = [...new Set([...Object.keys(value), ...Object.keys(other)])];
  if (names.length === 0) return [[path, value, standard]];
  return names.flatMap((each) => leavesOf(`${path}.${each}`, value[each], other[each]));
}

/** Figures are no secrets, and neither is a list with nothing in it. */
function holdsSecret(name: string, value: unknown): boolean {
  if (!SECRET_MEMBERS.test(name)) return false;
  return typeof value === 'string' || (typeof value === 'object' && value !== null && Object.keys(value).length > 0);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const MAX_TEXT = 500;

/** A value as JSON; what is none is named by its kind. */
function toJson(value: unknown): Json {
  if (value === undefined || value === null) return null;
  if (isAgentSchema(value)) return '[schema]';
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((each) => toJson(each));
  if (!isRecord(value)) return `[${typeof value}]`;
  const members = Object.entries(value).map(([name, each]): [string, Json] => [name, holdsSecret(name, each) ? REDACTED : toJson(each)]);
  return Object.fromEntries(members);
}

/** User, password and query of an address may be secret, and so may any text that holds a secret variable. */
function redactText(value: Json, secrets: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((each) => redactText(each, secrets));
  if (typeof value !== 'string') return value;
  const address = value.replace(/:\/\/[^/?#\s]*@/, `://${REDACTED}@`).replace(/^(\w[\w+.-]*:\/\/[^?#\s]*)[?#]\S*/, `$1?${REDACTED}`);
  return secrets.reduce((text, secret) => text.replaceAll(secret, REDACTED), address);
}
