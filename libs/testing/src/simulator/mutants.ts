// The broken variants of the protocol, as far as what they break
// exists. Each must be caught by the checkers within a fixed range of seeds, or is harmless for the reason it names.
import type { Mutant } from './mutant.ts';
import { brokerMutants } from './mutants/broker-mutants.ts';
import { decisionMutants } from './mutants/decision-mutants.ts';
import { dispatchMutants } from './mutants/dispatch-mutants.ts';
import { fairnessMutants } from './mutants/fairness-mutants.ts';
import { offsetMutants } from './mutants/offset-mutants.ts';
import { parkingMutants } from './mutants/parking-mutants.ts';
import { paymentMutants } from './mutants/payment-mutants.ts';
import { reactiveMutants } from './mutants/reactive-mutants.ts';
import { storeMutants } from './mutants/store-mutants.ts';

export const mutants: Readonly<Record<string, Mutant>> = {
  ...storeMutants,
  ...offsetMutants,
  ...brokerMutants,
  ...decisionMutants,
  ...paymentMutants,
  ...parkingMutants,
  ...dispatchMutants,
  ...reactiveMutants,
  ...fairnessMutants,
};
