// How a log line names an error: by its code, or else in its own words.
import { Fault } from '@dormouse/ports';

export const faultCode = (error: unknown): string => (error instanceof Fault ? error.code : String(error));
