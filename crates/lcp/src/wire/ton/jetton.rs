//! Transfers of jettons (TEP-74), and comments (TEP-74's forward payloads that a wallet shows).

use super::{Address, Builder, Cell, Slice};

const TRANSFER: u128 = 0x0F8A_7EA5;

/// A transfer, as the owner asks the jetton wallet for it.
pub struct Transfer {
    /// In the jetton's smallest unit, below 2^120.
    pub amount: u128,
    /// Who is paid.
    pub destination: Address,
    /// Who gets what is left of the fees.
    pub response: Option<Address>,
    /// Nanotons that go on with the payload, below 2^120.
    pub forward_amount: u128,
    /// What goes on to the payee.
    pub forward_payload: Cell,
}

impl Transfer {
    /// The message's body.
    pub fn build(self) -> Option<Cell> {
        let head = Builder::new().uint(TRANSFER, 32).uint(0, 64).coins(self.amount).address(Some(self.destination)).address(self.response);
        // No custom payload; the forward payload stands in a cell of its own.
        head.bit(false).coins(self.forward_amount).bit(true).reference(self.forward_payload).build()
    }
}

/// The cell of a transfer's forward payload; inside, `None` for one that stands in the body. `None` if the body is no
/// transfer between standard addresses.
pub fn forward_payload(mut body: Slice<'_>) -> Option<Option<&Cell>> {
    let transfers = body.uint(32)? == TRANSFER;
    // The query's id.
    body.skip(64)?;
    body.coins()?;
    let to_standard = body.uint(2)? == 2;
    body.standard_address().filter(|_| transfers && to_standard)?;
    match body.uint(2)? {
        0 => {}
        2 => body.standard_address().map(|_| ())?,
        _ => return None,
    }
    if body.bit()? {
        // The custom payload.
        body.reference()?;
    }
    body.coins()?;
    if body.bit()? { body.reference().map(Some) } else { Some(None) }
}

/// A comment's cell. `None` if the text is longer than a cell.
pub fn comment(text: &str) -> Option<Cell> {
    Builder::new().uint(0, 32).bytes(text.as_bytes()).build()
}

/// The text of a comment of one cell.
pub fn comment_text(cell: &Cell) -> Option<String> {
    let mut slice = cell.parse()?;
    let is_comment = slice.uint(32)? == 0;
    String::from_utf8(slice.rest_as_bytes()?).ok().filter(|_| is_comment)
}
