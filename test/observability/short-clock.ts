// The rules as they are, on a clock that runs faster: only durations change, each by the same factor.
//
// Invariant:
//   K1. `for`, and what stands in brackets (the window of a range, the step of a subquery), is divided; a threshold, an
//       operator, a label or a horizon of a prediction never is.
import type { Recording } from '../../deploy/observability/src/recordings.ts';
import type { AlertRule } from '../../deploy/observability/src/rules.ts';

/** Ten minutes become twenty seconds. */
export const clockDivisor = 30;

const secondsOf = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const duration = /(\d+)([smhd])/g;
const bracket = /\[[^\]]+\]/g;

/** In milliseconds, which Prometheus reads as well. */
export const shortened = (text: string): string =>
  text.replaceAll(
    duration,
    (_, count: string, unit: keyof typeof secondsOf) =>
      `${Math.round((Number(count) * secondsOf[unit] * 1_000) / clockDivisor)}ms`,
  );

/** (K1) @throws for a modifier whose duration stands outside brackets. */
export function onShortClock(expression: string): string {
  if (/\b(offset|@)/.test(expression)) throw new Error(`no short clock for: ${expression}`);
  return expression.replaceAll(bracket, shortened);
}

export const shortRecording = ({ record, expr }: Recording): Recording => ({ record, expr: onShortClock(expr) });

export const shortAlert = (rule: AlertRule): AlertRule => ({
  ...rule,
  expr: onShortClock(rule.expr),
  for: shortened(rule.for),
});
