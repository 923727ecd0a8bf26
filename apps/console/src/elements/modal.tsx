// A dialog over the page: focus stays inside, Escape closes it.
import type { ReactElement, ReactNode } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';

export function Window(props: {
  readonly title: string;
  readonly close: () => void;
  readonly children: ReactNode;
  readonly isWide?: boolean;
}): ReactElement {
  const { title, close, children, isWide = false } = props;
  return (
    <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(isOpen) => !isOpen && close()}>
      <Modal className={isWide ? 'modal modal-wide' : 'modal'}>
        <Dialog>
          <Heading slot="title" className="modal-title">
            {title}
          </Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
