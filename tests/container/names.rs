//! A name server that knows one name: nothing in the image helps the program to ask it.

use tokio::net::UdpSocket;

/// Where resolvers ask: the port is fixed, so it is an address of loopback that nobody else has.
pub const ADDRESS: &str = "127.0.0.83";

const A: [u8; 2] = [0, 1];

/// Says that every name is at 127.0.0.1. `false`: it cannot listen on a port of the system's.
pub async fn serve() -> bool {
    let Ok(socket) = UdpSocket::bind((ADDRESS, 53)).await else {
        eprintln!("skipped: the port of name servers cannot be taken");
        return false;
    };
    tokio::spawn(async move {
        let mut buffer = [0; 1500];
        while let Ok((count, client)) = socket.recv_from(&mut buffer).await {
            if let Some(answer) = answer(&buffer[..count]) {
                let _ = socket.send_to(&answer, client).await;
            }
        }
    });
    true
}

/// RFC 1035, 4: the question again, and an address where one is asked for.
fn answer(query: &[u8]) -> Option<Vec<u8>> {
    let name = query.get(12..)?.iter().position(|byte| *byte == 0)?;
    let end = 12 + name + 5;
    let question = query.get(12..end)?;
    let is_address = question[name + 1..name + 3] == A;
    let mut answer = query[..2].to_vec();
    answer.extend([0x85, 0x80, 0, 1, 0, u8::from(is_address), 0, 0, 0, 0]);
    answer.extend(question);
    if is_address {
        // The name above, of type A and class IN, for five seconds.
        answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 127, 0, 0, 1]);
    }
    Some(answer)
}
