import type { ReactElement } from 'react';

/** The browser's own separators would differ from the API's texts and between people who compare. */
const COUNT = new Intl.NumberFormat('en-US');
const NONE = '–';

/** A whole number with separators, `1,234`. */
export function Count({ value }: { value: number | null | undefined }): ReactElement {
  return <>{countText(value)}</>;
}

export function countText(value: number | null | undefined): string {
  return typeof value === 'number' ? COUNT.format(value) : NONE;
}

const MICRO = 1_000_000;
const inDigits = (digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const [USD, SMALL_USD] = [inDigits(2), inDigits(4)];

/** An amount in dollars; cents have four digits, because one call costs less than a cent. */
export function moneyText(microUsd: number | null | undefined): string {
  if (typeof microUsd !== 'number') return NONE;
  const usd = microUsd / MICRO;
  return `$${(microUsd !== 0 && Math.abs(usd) < 1 ? SMALL_USD : USD).format(usd)}`;
}

interface MoneyProps {
  /** Millionths of a dollar; null when a part of it is unknown. */
  microUsd: number | null | undefined;
  isEstimated?: boolean | undefined;
}

/** An amount in dollars, `~` before an estimate. */
export function Money({ microUsd, isEstimated = false }: MoneyProps): ReactElement {
  const isKnown = typeof microUsd === 'number';
  const hint = isKnown ? (isEstimated ? 'Partly estimated' : undefined) : 'The price is unknown';
  return (
    <span title={hint}>
      {isKnown && isEstimated ? '~' : ''}
      {moneyText(microUsd)}
    </span>
  );
}

interface TokensProps {
  usage: { inputTokens: number; outputTokens: number } | null | undefined;
}

/** Tokens sent and answered, in thousands from ten thousand on. */
export function Tokens({ usage }: TokensProps): ReactElement {
  if (!usage) return <span title="No model was called">{NONE}</span>;
  const { inputTokens, outputTokens } = usage;
  return (
    <span title={`${countText(inputTokens)} tokens sent, ${countText(outputTokens)} answered`}>
      {shortCount(inputTokens + outputTokens)}
    </span>
  );
}

const THOUSAND = 1000;
const FROM_THOUSANDS = 10_000;

/** A count of at most five characters: `9,999`, `10k`, `1.2M`. */
export function shortCount(value: number): string {
  if (value < FROM_THOUSANDS) return COUNT.format(value);
  if (value < MICRO) return `${Math.floor(value / THOUSAND)}k`;
  return `${(value / MICRO).toFixed(1)}M`;
}

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;
const KILO = 1024;

/** Bytes in their largest unit, `1.5 MB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= KILO && unit < BYTE_UNITS.length - 1) {
    value /= KILO;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

const PERCENT = 100;
const ALMOST = 10;

/** A part of one in percent, with a digit below ten: `3.4 %`. */
export function percentText(part: number): string {
  const percent = part * PERCENT;
  return `${percent !== 0 && percent < ALMOST ? percent.toFixed(1) : Math.round(percent)} %`;
}
